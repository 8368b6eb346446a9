// A state in a word, with a colour and a sign beside it: the colour alone would say nothing to some.
import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'quiet' | 'warn' | 'bad';

const signs: Readonly<Record<Tone, string>> = { good: '●', quiet: '○', warn: '▲', bad: '■' };

export function Chip({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }): ComponentChildren {
  return (
    <span class={`chip ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {children}
    </span>
  );
}
