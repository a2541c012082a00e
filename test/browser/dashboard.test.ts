import { accountSuite } from './suites/account.ts';
import { decisionsSuite } from './suites/decisions.ts';
import { errorsSuite } from './suites/errors.ts';
import { hostileContentSuite } from './suites/hostile-content.ts';
import { pagesSuite } from './suites/pages.ts';
import { policyEditorSuite } from './suites/policy-editor.ts';
import { projectSuite } from './suites/project.ts';
import { speedSuite } from './suites/speed.ts';
import { World } from './support/world.ts';

describe('the dashboard in a browser', function () {
  // Some cases load a page in many widths and check each with axe-core.
  this.timeout(180_000);
  const world = new World();
  before(() => world.open());
  after(() => world.close());
  afterEach(() => world.closePages());

  pagesSuite(world);
  decisionsSuite(world);
  hostileContentSuite(world);
  policyEditorSuite(world);
  projectSuite(world);
  accountSuite(world);
  errorsSuite(world);
  speedSuite(world);
});
