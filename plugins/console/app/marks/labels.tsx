// Labels of an entry, each in one line: a long one is cut off, and whole for who points at it.
import type { ComponentChildren } from 'preact';
import { visible } from '../parts/visible.ts';

export function Labels({ labels }: { readonly labels: Readonly<Record<string, unknown>> }): ComponentChildren {
  const texts = Object.entries(labels).map(([name, value]) => visible(`${name}=${String(value)}`));
  if (texts.length === 0) return undefined;
  return (
    <ul class="labels">
      {texts.map((text) => (
        <li key={text} title={text}>
          {text}
        </li>
      ))}
    </ul>
  );
}
