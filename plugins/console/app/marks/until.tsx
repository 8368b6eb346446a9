// End of something, as people say it, with a warning if it is soon.
import type { ComponentChildren } from 'preact';
import { Chip, type Tone } from '../parts/chip.tsx';
import { fromNow, When } from '../times/moments.tsx';

const dayMs = 86_400_000;

/** A timestamp of the API that is an end: plain words while it is far away, a chip when a person should act. */
export function Until({ at, isOver = false }: { readonly at: string; readonly isOver?: boolean }): ComponentChildren {
  const atMs = Date.parse(at);
  const days = (atMs - Date.now()) / dayMs;
  const tone: Tone | undefined = isOver || days >= 90 ? undefined : days < 30 ? 'bad' : 'warn';
  const time = (
    <When at={at}>
      {days < 0 ? 'ended' : 'ends'} {fromNow(atMs)}
    </When>
  );
  return tone === undefined ? <span class="quiet">{time}</span> : <Chip tone={tone}>{time}</Chip>;
}
