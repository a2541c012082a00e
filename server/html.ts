/** Text that may be sent as HTML. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[];

/** A template of HTML. Strings in it are escaped; the output of another template is used unchanged. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, index) => text + textOf(parts[index] ?? '')).join(''));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escapeHtml(String(part));
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
