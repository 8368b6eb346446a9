// Texts of the API description: words between backticks are code, and nothing else is markup.
import type { ComponentChildren } from 'preact';
import { told } from '../language/told.ts';

export function Prose({ text }: { readonly text: string }): ComponentChildren {
  return told(text)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
