// The theme of the dashboard, or else that of the system. Swagger UI enables dark mode by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');

function applyTheme() {
  let theme = null;
  try {
    theme = localStorage.getItem('gatehouse.theme');
  } catch {
    // Storage is blocked.
  }
  const root = document.documentElement;
  root.dataset.theme = theme ?? 'auto';
  root.classList.toggle('dark-mode', theme === 'dark' || (theme !== 'light' && dark.matches));
}

/** Opens the target of a link within the page: an operation or a schema is closed at first. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

/** What Swagger UI leaves to do for screen readers: a landmark around the title, a heading between title and groups, no link
 * inside a button, no menu of servers where there is only one. */
function accessible({ React }) {
  const create = React.createElement;
  const grouped = (Original) => (props) => [
    create('h2', { key: 'heading', className: 'operations-heading' }, 'Operations'),
    create(Original, { key: 'groups', ...props }),
  ];
  return {
    wrapComponents: {
      operations: grouped,
      InfoContainer: (Original) => (props) =>
        create('section', { 'aria-label': 'About this API' }, create(Original, props)),
      DeepLink: () => (props) => create('span', null, props.text),
      ServersContainer: () => () => null,
    },
  };
}

function loaded(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener('load', resolve);
    element.addEventListener('error', reject);
    document.head.append(element);
  });
}

/** Swagger UI is large, so it is loaded only when somebody wants to send a request. It opens the operation of the address. */
async function startTrial() {
  const style = Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    href: '/docs/swagger-ui.css',
  });
  const script = Object.assign(document.createElement('script'), { src: '/docs/swagger-ui-bundle.js' });
  const reference = document.getElementById('reference');
  reference.setAttribute('aria-busy', 'true');
  await Promise.all([loaded(style), loaded(script)]);
  const back = Object.assign(document.createElement('a'), { href: '/docs', textContent: '← Reference' });
  document.querySelector('header nav').replaceChildren(back);
  // Swagger UI has its own landmark.
  const trial = Object.assign(document.createElement('div'), { id: 'trial' });
  reference.replaceWith(trial);
  window.SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#trial',
    deepLinking: true,
    plugins: [accessible],
    validatorUrl: null,
    persistAuthorization: false,
    tryItOutEnabled: true,
  });
}

let isTrial = false;
function followAddress() {
  const wantsTrial = location.hash.startsWith('#/');
  if (wantsTrial === isTrial) {
    if (!isTrial) openTarget();
    return;
  }
  if (!wantsTrial) {
    location.reload();
    return;
  }
  isTrial = true;
  void startTrial();
}

applyTheme();
dark.addEventListener('change', applyTheme);
addEventListener('hashchange', followAddress);
followAddress();
