// "Needs a person": one place in the head with a count, and for each thing the way to where it is done. The appliance says what it is.
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { facts } from '../api/session.ts';
import type { Catalog } from '../description/catalog.ts';
import { textOf } from '../description/schema.ts';
import { told } from '../language/told.ts';
import { useRepeated } from '../marks/repeated.ts';
import { useLoaded, useSteady } from '../parts/loaded.ts';
import { presence } from '../parts/presence.ts';
import { visible } from '../parts/visible.ts';

const [path, channelsPath] = ['/v1/state/notices', '/v1/state/system/notice-channels'];

const words = {
  title: 'Needs a person',
  nothing: 'Nothing needs a person now.',
  channels: 'Messages by mail and webhook',
} as const;

/** Between two looks. */
const everyMs = 120_000;

type Notice = { readonly name: string; readonly text: string; readonly path: string; readonly filter?: Readonly<Record<string, string>> };

export function Needs({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const turn = useSignal(0);
  useRepeated(presence.value, everyMs, () => (turn.value += 1));
  const notices = useNotices(catalog, turn.value);
  const close = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void =>
    currentTarget.closest('details')?.removeAttribute('open');
  return (
    <details class="needs">
      <summary>
        <span class={notices.length > 0 ? 'count some' : 'count'}>{notices.length}</span> <span class="name">{words.title}</span>
      </summary>
      <div class="card">
        {notices.length === 0 ? (
          <p>{words.nothing}</p>
        ) : (
          <ul class="plain">
            {notices.map((notice) => (
              <li key={notice.name}>
                <a href={hrefOf(notice.path, notice.filter)} onClick={close}>
                  {visible(told(textOf(notice.text)))}
                </a>
              </li>
            ))}
          </ul>
        )}
        {catalog.at(channelsPath) !== undefined && may('read', channelsPath).value === 'yes' ? (
          <p>
            <a href={hrefOf(channelsPath)} onClick={close}>
              {words.channels}
            </a>
          </p>
        ) : null}
      </div>
    </details>
  );
}

/** Kept while they are asked again. Until somebody has claimed the appliance, there is nobody whom they could concern. */
function useNotices(catalog: Catalog, turn: number): readonly Notice[] {
  const isAsked = facts.unclaimed === undefined && catalog.at(path) !== undefined && may('read', path).value === 'yes';
  const loaded = useSteady(useLoaded(isAsked ? { method: 'GET', path, query: {} } : undefined, turn).value);
  const body = loaded.state === 'there' ? loaded.answer.body : undefined;
  return Array.isArray(body) ? (body as readonly Notice[]) : [];
}
