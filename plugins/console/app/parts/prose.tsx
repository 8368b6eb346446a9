// Texts of the API description: words between backticks are code, and nothing else is markup.
import type { ComponentChildren } from 'preact';

export function Prose({ text }: { readonly text: string }): ComponentChildren {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
