// HTML without injection: every value in a template is escaped unless it is Html itself.

/** Text that is markup and goes into a page unescaped. Only `html` creates it. */
export class Html {
  readonly markup: string;
  private constructor(markup: string) {
    this.markup = markup;
  }

  static join(strings: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(strings.map((part, index) => part + (index < values.length ? render(values[index]) : '')).join(''));
  }
}

/** Undefined and false are left out; lists are joined. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined | false;

/** Builds markup: html`<p>${text}</p>`. Values are escaped for elements and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.join(strings, values);
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map((one) => one.markup).join('');
  return escapeHtml(String(value));
}

/** A fixed text with `names` between backticks. */
export function prose(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => entities[character] ?? character);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };
