import { Html, html } from '../html.ts';

/** The subset of JSON Schema that this document uses. */
export type Schema = {
  type?: string | string[];
  format?: string;
  description?: string;
  $ref?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema>;
  required?: string[];
} & Partial<Record<'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minimum' | 'maximum', number>>;

/** One member of an object, or one parameter. */
type Field = { name: string; schema: Schema; note?: string; description?: string | undefined };

const REF = '#/components/schemas/';

/** The type of a value with its bounds, and the members of its contents. */
export function schemaHtml(schema: Schema): Html {
  return html`<p class="type">${typeHtml(schema)}</p>
    ${membersHtml(schema)}`;
}

export function fieldsHtml(fields: readonly Field[]): Html {
  return html`<ul class="fields">
    ${fields.map(fieldHtml)}
  </ul>`;
}

function fieldHtml({ name, schema, note, description = schema.description }: Field): Html {
  return html`<li>
    <code class="name">${name}</code> <span class="type">${typeHtml(schema)}${note ? `, ${note}` : ''}</span>
    ${description === undefined ? '' : html`<p>${inlineHtml(description)}</p>`} ${membersHtml(schema)}
  </li>`;
}

/** Text with `code` spans, as in the document's descriptions. */
export function inlineHtml(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

/** The members of an object, of the items of a list, or of each alternative. */
function membersHtml({ properties, required = [], items, anyOf, ...rest }: Schema): Html {
  const others = [rest.additionalProperties, ...Object.values(rest.patternProperties ?? {})];
  const schemas = [items, ...(anyOf ?? []), ...others].filter((inner) => typeof inner === 'object');
  const fields = Object.entries(properties ?? {}).map(([name, schema]) =>
    required.includes(name) ? { name, schema, note: 'required' } : { name, schema },
  );
  return html`${fields.length === 0 ? '' : fieldsHtml(fields)}${schemas.map(membersHtml)}`;
}

function typeHtml(schema: Schema): Html {
  const bounds = boundsOf(schema);
  return html`${nameHtml(schema)}${bounds.map((bound) => html`, ${bound}`)}`;
}

function nameHtml({ $ref, enum: values, const: only, anyOf, items, type, ...rest }: Schema): Html {
  if ($ref !== undefined) {
    const name = $ref.slice(REF.length);
    return html`<a href="#${schemaId(name)}">${name}</a>`;
  }
  if (anyOf !== undefined) return joined(anyOf.map(typeHtml));
  if (values !== undefined) return joined(values.map(valueHtml));
  if (only !== undefined) return valueHtml(only);
  if (items !== undefined) return html`list of ${innerHtml(items)}`;
  const inner = rest.additionalProperties ?? Object.values(rest.patternProperties ?? {})[0];
  if (typeof inner === 'object') return html`object of ${innerHtml(inner)}`;
  return html`${[type ?? 'any value'].flat().join(' or ')}`;
}

function innerHtml(schema: Schema): Html {
  return boundsOf(schema).length === 0 ? nameHtml(schema) : html`(${typeHtml(schema)})`;
}

export function schemaId(name: string): string {
  return `schema-${name}`;
}

function joined(parts: Html[]): Html {
  return html`${parts.map((part, index) => html`${index === 0 ? '' : ' or '}${part}`)}`;
}

function valueHtml(value: unknown): Html {
  return html`<code>${JSON.stringify(value)}</code>`;
}

function boundsOf(schema: Schema): (Html | string)[] {
  const { format, pattern } = schema;
  return [
    ...(format === undefined ? [] : [format]),
    ...rangeOf(schema.minLength, schema.maxLength, ' characters'),
    ...rangeOf(schema.minItems, schema.maxItems, ' items'),
    ...rangeOf(schema.minimum, schema.maximum, ''),
    ...(pattern === undefined ? [] : [html`matches <code>${pattern}</code>`]),
    ...(schema.default === undefined ? [] : [html`default ${valueHtml(schema.default)}`]),
  ];
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string[] {
  const shown = (value: number) => value.toLocaleString('en');
  if (least !== undefined && most !== undefined) return [`${shown(least)} to ${shown(most)}${unit}`];
  if (most !== undefined) return [`at most ${shown(most)}${unit}`];
  return least === undefined ? [] : [`at least ${shown(least)}${unit}`];
}
