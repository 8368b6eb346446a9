// Writes the texts of another language into the sources of the console while they are bundled.
import { textsOf, type Span, type Text } from './texts.ts';

/** Texts of another language by the English ones. `{0}`, `{1}` stand for what is put into them. */
export type Words = Readonly<Record<string, string>>;

/** Replaces the texts that the words have; others stay. */
export function translate(code: string, lang: 'ts' | 'tsx', words: Words): string {
  const texts = textsOf(code, lang).filter((text) => Object.hasOwn(words, text.words));
  return written({ start: 0, end: code.length });

  /** A part of the source, with the texts in it replaced. */
  function written(span: Span, within?: Text): string {
    let [result, at] = ['', span.start];
    for (const text of texts) {
      if (text === within || text.start < at || text.end > span.end) continue;
      result += code.slice(at, text.start) + replaced(text, words[text.words] ?? '');
      at = text.end;
    }
    return result + code.slice(at, span.end);
  }

  function replaced(text: Text, other: string): string {
    const { form, inserted } = text;
    if (form === 'literal') return JSON.stringify(other);
    if (form === 'attribute') return `{${JSON.stringify(other)}}`;
    return other
      .split(/(\{\d+\})/)
      .map((part) => {
        const span = inserted[Number(/^\{(\d+)\}$/.exec(part)?.[1])];
        if (form === 'template') return span === undefined ? part.replaceAll(/[\\`$]/g, '\\$&') : `\${${written(span, text)}}`;
        return span === undefined ? (part === '' ? '' : `{${JSON.stringify(part)}}`) : written(span, text);
      })
      .join('')
      .replace(/^[^]*$/, (all) => (form === 'template' ? `\`${all}\`` : all));
  }
}
