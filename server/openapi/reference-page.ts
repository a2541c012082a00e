import { type Html, html } from '../html.ts';
import type { openapiDocument } from './document.ts';
import { fieldsHtml, inlineHtml, type Schema, schemaHtml, schemaId } from './schema-html.ts';

type Content = Record<string, { schema: Schema; example?: unknown }>;
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema };
type Operation = {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; headers?: object; content?: Content }>;
};
type At = { method: string; path: string; operation: Operation };

const CREDENTIALS: Record<string, string> = {
  session: 'session of an account',
  bearerKey: 'bearer key',
  metricsToken: 'metrics token',
};

/**
 * The page at /docs: the whole OpenAPI document as HTML. It needs no script to be read; start.js follows the theme of the dashboard and
 * loads Swagger UI when an operation is tried.
 */
export function referencePage({ info, tags, paths, components }: ReturnType<typeof openapiDocument>): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]): At => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  const schemas = Object.entries(components.schemas as Record<string, Schema>);
  const main = html`<section aria-labelledby="title">
      <h1 id="title">${info.title} API <small>${info.version}</small></h1>
      ${info.description.split('\n\n').map((text) => html`<p>${inlineHtml(text)}</p>`)}
      <p><a href="/openapi.json">OpenAPI 3.1 document</a></p>
    </section>
    ${groups.map(groupHtml)}
    <section aria-labelledby="schemas">
      <h2 id="schemas">Schemas</h2>
      ${schemas.map(([name, schema]) => componentHtml(name, schema))}
    </section>`;
  return pageHtml(groups, main).text;
}

type Group = { name: string; description: string; operations: At[] };

function pageHtml(groups: Group[], main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta
          name="description"
          content="The HTTP API of Gatehouse: durable audit trail and signed policies for AI agents"
        />
        <title>Gatehouse API</title>
        <link rel="icon" href="/favicon.ico" />
        <link rel="stylesheet" href="/docs/page.css" />
        <script defer src="/docs/start.js"></script>
      </head>
      <body>
        <header>
          <a href="/">← Dashboard</a>
          <nav aria-label="Parts of the API">
            ${groups.map(({ name }) => html`<a href="#${anchorOf(name)}">${name}</a>`)}<a href="#schemas"
              >Schemas</a
            >
          </nav>
        </header>
        <main id="reference">${main}</main>
      </body>
    </html> `;
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-');
}

function groupHtml({ name, description, operations }: Group): Html {
  const id = anchorOf(name);
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    <p>${description}</p>
    ${operations.map(operationHtml)}
  </section>`;
}

function operationHtml({ method, path, operation }: At): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  // The address of the operation in Swagger UI.
  const trial = `#/${encodeURIComponent(operation.tags[0])}/${operationId}`;
  return html`<details id="${operationId}">
    <summary>
      <b class="${method.toLowerCase()}">${method}</b> <code>${path}</code> <span>${summary}</span>
    </summary>
    <p>${inlineHtml(description)}</p>
    <p>
      Credentials: ${credentialsOf(operation)}
      <a class="try" href="${trial}">Try it<span class="hidden">: ${summary}</span></a>
    </p>
    ${
      parameters.length === 0
        ? ''
        : html`<h3>Parameters</h3>
            ${fieldsHtml(parameters.map(parameterFrom))}`
    }
    ${
      requestBody === undefined
        ? ''
        : html`<h3>Request body</h3>
            ${contentHtml(requestBody.content)}`
    }
    <h3>Answers</h3>
    <ul class="fields">
      ${Object.entries(responses).map(answerHtml)}
    </ul>
  </details> `;
}

function credentialsOf({ security }: Operation): string {
  const names = security.map((scheme) => {
    const [name] = Object.keys(scheme);
    return name === undefined ? 'none' : (CREDENTIALS[name] ?? name);
  });
  return names.length === 0 ? 'none' : names.join(' or ');
}

function parameterFrom({ in: place, required, ...field }: Parameter) {
  return { ...field, note: `in the ${place}${required === true ? ', required' : ''}` };
}

function contentHtml(content: Content): Html[] {
  return Object.entries(content).map(
    ([type, { schema, example }]) =>
      html`<p><code>${type}</code></p>
        ${schemaHtml(schema)}
        ${example === undefined ? '' : html`<pre tabindex="0">${exampleText(example)}</pre>`}`,
  );
}

function exampleText(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

/** All problems have the same body, which is not repeated in each. */
function answerHtml([status, { description, headers = {}, content = {} }]: [
  string,
  Operation['responses'][string],
]): Html {
  const isProblem = 'application/problem+json' in content;
  const sent = Object.keys(headers);
  return html`<li>
    <code class="name">${status}</code> ${inlineHtml(description)}
    ${sent.length === 0 ? '' : html`<p>Headers: ${sent.join(', ')}</p>`}
    ${isProblem ? '' : contentHtml(content)}
  </li>`;
}

function componentHtml(name: string, schema: Schema): Html {
  return html`<details id="${schemaId(name)}">
    <summary><code>${name}</code></summary>
    ${schemaHtml(schema)}
  </details>`;
}
