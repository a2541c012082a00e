/** The page at /docs. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="The HTTP API of Gatehouse: durable audit trail and signed policies for AI agents">
<title>Gatehouse API</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header><a href="/">← Dashboard</a></header>
<div id="reference"><noscript>The reference needs JavaScript. The document itself is at /openapi.json.</noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Swagger UI has a dark mode but no switch: the page takes the theme of the dashboard, or else of the system. */
export const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
function applyTheme() {
  let theme = null;
  try {
    theme = localStorage.getItem('gatehouse.theme');
  } catch {
    // Storage is blocked.
  }
  const isDark = theme === 'dark' || (theme !== 'light' && dark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
}
applyTheme();
dark.addEventListener('change', applyTheme);
// What Swagger UI leaves to do for screen readers: a landmark around the title, a heading between title and groups, no link
// inside a button, no menu of servers where there is only one.
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
      DeepLink: () => ({ text }) => create('span', null, text),
      ServersContainer: () => () => null,
    },
  };
}
window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  plugins: [accessible],
  validatorUrl: null,
  persistAuthorization: false,
});
`;

export const STYLE = `body {
  margin: 0;
}
body > header {
  max-width: 1460px;
  margin: 0 auto;
  padding: 14px 20px 0;
  font: 600 14px system-ui, sans-serif;
}
body > header a {
  color: #1b6653;
}
.dark-mode body > header a {
  color: #58bfa3;
}
.operations-heading {
  max-width: 1420px;
  margin: 0 auto;
  padding: 0 10px;
  font: 600 20px system-ui, sans-serif;
}
.dark-mode .operations-heading {
  color: #e4e6e6;
}
/* Otherwise a change of the theme would show pale links for a while. */
.swagger-ui :is(.info a, a.link, .url) {
  transition: none;
}
/* Swagger UI's own colours are too light on white. */
html:not(.dark-mode) .swagger-ui .info .title small {
  background: #5b6270;
}
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp {
  background: #4a6a00;
}
html:not(.dark-mode) .swagger-ui :is(.info a, a.link, .url) {
  color: #1f5fae;
}
html:not(.dark-mode) .swagger-ui .btn.authorize {
  border-color: #1b7f53;
  color: #17704a;
}
html:not(.dark-mode) .swagger-ui .opblock-post .opblock-summary-method {
  background: #1b7f53;
}
html:not(.dark-mode) .swagger-ui .opblock-get .opblock-summary-method {
  background: #1f6fc0;
}
html:not(.dark-mode) .swagger-ui .opblock-put .opblock-summary-method {
  background: #a85b00;
}
html:not(.dark-mode) .swagger-ui .opblock-delete .opblock-summary-method {
  background: #c62828;
}
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .json-schema-2020-12-expand-deep-button) {
  color: #575d69;
}
`;
