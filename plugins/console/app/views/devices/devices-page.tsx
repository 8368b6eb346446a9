// All issued certificates: the device is the row, those that nobody has renewed in time first, with what replaced what, and many revoked at once.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { address, go, hrefOf } from '../../address/router.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { moreOf } from '../../marks/more-of.ts';
import { Life } from '../../charts/life.tsx';
import { CertificateSearch } from '../../lists/certificate-search.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { typedTexts } from '../../parts/typed.ts';
import { visible } from '../../parts/visible.ts';
import { Exact } from '../../times/moments.tsx';
import { authorityPath, certificatePath } from '../authorities/state.ts';
import { locale } from '../../language/language.ts';
import { countStates, deviceStates, devicesOf, lineOf, titleOfDevice, type Device, type DeviceState } from './devices.ts';
import { Freshness } from './freshness.tsx';
import { RevokeMany } from './revoke-many.tsx';
import { useIssued, type Everything } from './use-issued.ts';

const readAtOnce = 10_000;
const shownAtOnce = 100;

const words = {
  title: 'All certificates',
  about: 'Of all authorities. Devices that have not renewed in time come first.',
  states: { late: 'not renewed in time', due: 'to renew now', fresh: 'valid', ended: 'ended', revoked: 'revoked' },
  none: 'No authority has issued a certificate yet.',
  noMatch: 'No device matches.',
  cut: (count: number): string => `Looked at the first ${count.toLocaleString(locale)} certificates.`,
  hidden: (names: readonly string[]): string => `You may not see the certificates of ${names.map((one) => visible(one)).join(', ')}.`,
} as const;

const tones: Readonly<Record<DeviceState, Tone>> = { late: 'bad', due: 'warn', fresh: 'good', ended: 'quiet', revoked: 'bad' };

/** Long because it is one view from top to bottom. */
export function DevicesPage({ catalog, path }: DrawnProps): ComponentChildren {
  const { query } = address.value;
  const [goal, turn, count] = [useSignal(readAtOnce), useSignal(0), useSignal(shownAtOnce)];
  const chosen = useSignal<ReadonlyMap<string, Device>>(new Map());
  const contains = query.get('contains') ?? '';
  const everything = useRead(useIssued(goal.value, contains, turn.value).value);
  const { state, authorities, issued, isCut, hidden, error } = everything;
  const all = devicesOf(issued, Date.now());
  const wanted = deviceStates.find((one) => one === query.get('state'));
  const devices = wanted === undefined ? all : all.filter((one) => one.state === wanted);
  const shown = devices.slice(0, count.value);
  const mark = (device: Device, isMarked: boolean): void => {
    const next = new Map(chosen.value);
    if (isMarked) next.set(device.key, device);
    else next.delete(device.key);
    chosen.value = next;
  };
  return (
    <>
      <Heading catalog={catalog} title={words.title} path={path}>
        <p class="quiet">{words.about}</p>
        <div class="buttons">
          <Refresh turn={turn} />
        </div>
      </Heading>
      {error !== undefined && <Problem error={error} />}
      <Filters path={path} counts={countStates(all)} />
      <p role="status" class="quiet">
        {state === 'reading' ? 'Reading … ' : ''}
        {devices.length.toLocaleString(locale)} {devices.length === 1 ? 'device' : 'devices'}, {issued.length.toLocaleString(locale)}{' '}
        {issued.length === 1 ? 'certificate' : 'certificates'}
        {hidden.length > 0 && `. ${words.hidden(hidden)}`}
      </p>
      {chosen.value.size > 0 && (
        <RevokeMany
          catalog={catalog}
          authorities={authorities}
          devices={[...chosen.value.values()]}
          onChanged={() => (turn.value += 1)}
          onClose={() => (chosen.value = new Map())}
        />
      )}
      {state === 'reading' ? (
        <Loading />
      ) : devices.length > 0 ? (
        <DataTable
          label={words.title}
          columns={columnsOf(chosen.value, mark)}
          rows={shown}
          keyOf={({ key }) => key}
          isWhole={devices.length === shown.length && !isCut}
        />
      ) : (
        state === 'read' && <p class="empty">{all.length === 0 && contains === '' ? words.none : words.noMatch}</p>
      )}
      <div class="buttons">
        {devices.length > count.value && (
          <button type="button" onClick={() => (count.value += shownAtOnce)}>
            {moreOf(shownAtOnce, devices.length - count.value)}
          </button>
        )}
        {state === 'read' && isCut && (
          <>
            <span class="quiet">{words.cut(issued.length)}</span>
            <button type="button" onClick={() => (goal.value = issued.length + readAtOnce)}>
              Look at {readAtOnce.toLocaleString(locale)} more
            </button>
          </>
        )}
      </div>
      {authorities.length > 0 && <Freshness authorities={authorities} />}
    </>
  );
}

/** The last that was read whole, while it is read again: rows that come one authority after another would move those that are read. */
function useRead(now: Everything): Everything {
  const kept = useRef(now);
  if (now.state !== 'reading' || kept.current.state === 'reading') kept.current = now;
  return kept.current;
}

type FiltersProps = { readonly path: string; readonly counts: Readonly<Record<DeviceState, number>> };

function Filters({ path, counts }: FiltersProps): ComponentChildren {
  const { query } = address.value;
  const to = (part: Readonly<Record<string, string>>): string => {
    const next = { ...Object.fromEntries(query), ...part };
    return hrefOf(path, Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    go(to(Object.fromEntries(typedTexts(event.currentTarget as HTMLFormElement))));
  };
  return (
    <>
      <ul class="figures" aria-label="Devices by state">
        {deviceStates.map((one) => (
          <li key={one}>
            <a href={to({ state: query.get('state') === one ? '' : one })} aria-current={query.get('state') === one ? 'true' : undefined}>
              <strong>{counts[one].toLocaleString(locale)}</strong> <Chip tone={tones[one]}>{words.states[one]}</Chip>
            </a>
          </li>
        ))}
      </ul>
      <form class="filters" role="search" aria-label="Search" onSubmit={submit} key={query.get('contains')}>
        <CertificateSearch query={query} />
        <div class="buttons">
          <button type="submit">Search</button>
          {(query.has('contains') || query.has('state')) && <a href={to({ contains: '', state: '' })}>Show all</a>}
        </div>
      </form>
    </>
  );
}

function columnsOf(chosen: ReadonlyMap<string, Device>, mark: (device: Device, isMarked: boolean) => void): readonly Column<Device>[] {
  return [
    {
      head: 'Device',
      is: 'name',
      order: titleOfDevice,
      cell: (device) => (
        <label class="check">
          <input
            type="checkbox"
            aria-label={`Choose ${visible(titleOfDevice(device))}`}
            checked={chosen.has(device.key)}
            onChange={({ currentTarget }) => mark(device, currentTarget.checked)}
          />
          <a href={hrefOf(certificatePath(device.current.authority, device.current.serial))}>
            <bdi>{visible(titleOfDevice(device))}</bdi>
          </a>
        </label>
      ),
    },
    {
      head: 'State',
      order: ({ state }) => deviceStates.indexOf(state),
      cell: ({ state }) => <Chip tone={tones[state]}>{words.states[state]}</Chip>,
    },
    {
      head: 'Life',
      order: ({ current }) => current['not-after'],
      cell: ({ current }) => <Life of={current} isOver={current.status !== 'valid'} />,
    },
    {
      head: 'Authority',
      order: ({ current }) => current.authority,
      cell: ({ current: { authority } }) => (
        <a href={hrefOf(authorityPath(authority))}>
          <bdi>{visible(authority)}</bdi>
        </a>
      ),
    },
    { head: 'Made by', order: ({ current }) => current.via, cell: ({ current }) => visible(current.via) },
    {
      head: 'Others',
      order: ({ others }) => others.length,
      cell: (device) => device.others.length > 0 && <Others device={device} />,
    },
  ];
}

const shownOthers = 20;

/** The other certificates of a device: each was replaced by the next one of its line, or is of another enrolment. */
function Others({ device: { current, others } }: { readonly device: Device }): ComponentChildren {
  const newest = new Map([[lineOf(current), current.serial]]);
  const told = others.slice(0, shownOthers).map((one) => {
    const line = lineOf(one);
    const by = newest.get(line);
    newest.set(line, one.serial);
    return { one, by };
  });
  return (
    <details>
      <summary>
        {others.length.toLocaleString(locale)} {others.length === 1 ? 'certificate' : 'certificates'}
      </summary>
      <ul class="plain">
        {told.map(({ one, by }) => (
          <li key={one.serial}>
            <a href={hrefOf(certificatePath(one.authority, one.serial))}>
              <code>{visible(one.serial)}</code>
            </a>{' '}
            <span class="quiet">
              {one.status}, until <Exact at={one['not-after']} />,{' '}
              {by === undefined ? (
                'of another enrolment'
              ) : (
                <>
                  replaced by <code>{visible(by)}</code>
                </>
              )}
            </span>
          </li>
        ))}
        {others.length > shownOthers && <li class="quiet">and {(others.length - shownOthers).toLocaleString(locale)} more</li>}
      </ul>
    </details>
  );
}
