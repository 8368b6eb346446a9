// Life of a certificate as a fraction: what is left of it as a bar, its end in words, and a sign when a person should act.
import type { ComponentChildren } from 'preact';
import { Meter } from './meter.tsx';
import { Chip } from '../parts/chip.tsx';
import { fromNow, When } from '../times/moments.tsx';
import { lifeOf, type Lived } from './life.ts';

export type LifeProps = { readonly of: Lived; readonly isOver?: boolean };

export function Life({ of, isOver = false }: LifeProps): ComponentChildren {
  const { left, tone } = lifeOf(of, Date.now());
  const at = of['not-after'];
  const end = (
    <When at={at}>
      {left <= 0 ? 'ended' : 'ends'} {fromNow(Date.parse(at))}
    </When>
  );
  if (isOver || left <= 0) return left <= 0 && !isOver ? <Chip tone="bad">{end}</Chip> : <span class="quiet">{end}</span>;
  return (
    <span class={tone === undefined ? 'life' : `life ${tone}`}>
      <Meter share={left} isOfRest label={tone === undefined ? end : <Chip tone={tone}>{end}</Chip>} />
    </span>
  );
}
