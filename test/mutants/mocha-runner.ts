import { globSync } from 'node:fs';
import { commonTokens, declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import type { StrykerOptions } from '@stryker-mutator/api/core';
import {
  determineHitLimitReached,
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import Mocha from 'mocha';

type Instrumenter = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: NonNullable<Extract<DryRunResult, { mutantCoverage?: unknown }>['mutantCoverage']>;
};

/** Runs mocha in this process: Stryker's own runner for mocha does not load mocha 12. Test files are loaded once. */
class MochaRunner implements TestRunner {
  static readonly inject: [typeof commonTokens.options] = [commonTokens.options];
  readonly #mocha = new Mocha({ timeout: 0, reporter: Mocha.reporters.Base });
  readonly #files: string[];
  readonly #instrumenter = ((globalThis as { __stryker__?: Instrumenter }).__stryker__ ??= {});
  #isDryRun = false;
  #loaded: Promise<unknown> | undefined;

  constructor(options: StrykerOptions) {
    this.#files = globSync(options['mocha'] as string[]);
  }

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    const instrumenter = this.#instrumenter;
    this.#mocha.cleanReferencesAfterRun(false);
    for (const file of this.#files) this.#mocha.addFile(file);
    const markTest = (test: Mocha.Runnable | undefined) => {
      if (this.#isDryRun) instrumenter.currentTestId = test?.fullTitle();
    };
    this.#mocha.suite.beforeEach(function () {
      markTest(this.currentTest);
    });
  }

  async dryRun({ disableBail }: DryRunOptions): Promise<DryRunResult> {
    await this.#load();
    this.#isDryRun = true;
    const tests = await this.#run(!disableBail);
    this.#isDryRun = false;
    const { mutantCoverage } = this.#instrumenter;
    return {
      status: DryRunStatus.Complete,
      tests,
      ...(mutantCoverage === undefined ? {} : { mutantCoverage }),
    };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, hitLimit, disableBail } = options;
    Object.assign(this.#instrumenter, { hitLimit, hitCount: 0 });
    // A mutant of code that runs at import must be active before; Stryker starts a new process for each of them.
    if (options.mutantActivation === 'static') this.#instrumenter.activeMutant = activeMutant.id;
    await this.#load();
    this.#instrumenter.activeMutant = activeMutant.id;
    const titles = testFilter?.map((title) => `^${title.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}$`);
    this.#mocha.grep(titles === undefined ? /./ : new RegExp(titles.join('|')));
    const tests = await this.#run(!disableBail);
    const { hitCount } = this.#instrumenter;
    const timeout = determineHitLimitReached(hitCount, hitLimit);
    return toMutantRunResult(timeout ?? { status: DryRunStatus.Complete, tests });
  }

  /** Once: a module that is loaded cannot be loaded again. */
  #load(): Promise<unknown> {
    this.#loaded ??= this.#mocha.loadFilesAsync().then(() => withoutSlowTests(this.#mocha.suite));
    return this.#loaded;
  }

  #run(bail: boolean): Promise<TestResult[]> {
    const tests: TestResult[] = [];
    this.#mocha.suite.eachTest((test) => test.parent?.bail(bail));
    return new Promise((resolve) => {
      const runner = this.#mocha.run(() => resolve(tests));
      const resultOf = (test: Mocha.Test) => ({
        id: test.fullTitle(),
        name: test.fullTitle(),
        timeSpentMs: test.duration ?? 0,
      });
      runner.on('pass', (test) => tests.push({ ...resultOf(test), status: TestStatus.Success }));
      runner.on('fail', (test, error: Error) =>
        tests.push({ ...resultOf(test), status: TestStatus.Failed, failureMessage: error.message }),
      );
    });
  }
}

/** Random texts take seconds for each mutant, mutants do not reach other processes, and instrumented code is slow. */
const SLOW =
  /never throws|for any value|endless value|in under \d+ ms|large typed arrays|^(come back as|keep null|belong to)/;

function withoutSlowTests(suite: Mocha.Suite): void {
  suite.tests = suite.tests.filter(({ title }) => !SLOW.test(title));
  for (const inner of suite.suites) withoutSlowTests(inner);
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'mocha', MochaRunner)];
