import type { Page, Route } from 'playwright-core';

type HoldOptions = {
  method?: string;
  /** Answers in place of the service. */
  answer?: Parameters<Route['fulfill']>[0];
};
type Held = {
  /** Resolves once the service has answered. */
  asked: Promise<void>;
  /** Lets the answer arrive. Resolves when the page has had time to show it. */
  release: () => Promise<void>;
};

/** Holds back the answer to the next request to this address. */
export async function holdNext(
  page: Page,
  address: RegExp,
  { method = 'GET', answer }: HoldOptions = {},
): Promise<Held> {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const shown = Promise.withResolvers<void>();
  let isNext = true;
  await page.route(address, async (route) => {
    if (!isNext || route.request().method() !== method) return route.fallback();
    isNext = false;
    const late = answer ?? { response: await route.fetch() };
    asked.resolve();
    await released.promise;
    await route.fulfill(late);
    await route.request().response();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    shown.resolve();
  });
  const release = () => {
    released.resolve();
    return shown.promise;
  };
  return { asked: asked.promise, release };
}
