// The log of the appliance as it is written: the newest line first, by level, component and text.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { address, go, hrefOf } from '../../address/router.ts';
import { textOf } from '../../description/schema.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { isDenied } from '../../parts/loaded.ts';
import { PlainTime } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { typedTexts, exact } from '../../parts/typed.ts';
import { timestampOf, type TopicRecord, type TopicState } from '../../topics/read-topic.ts';
import { useTopic } from '../../topics/use-topic.ts';
import { locale, said } from '../../language/language.ts';

/** Lines that are kept; older ones are in the topic. */
const mostLines = 500;
const levels = ['debug', 'info', 'warn', 'error'] as const;
const tones: Readonly<Record<string, Tone>> = { warn: 'warn', error: 'bad' };

const states: Readonly<Record<TopicState, readonly [tone: Tone, word: string]>> = {
  reading: ['quiet', said('connecting')],
  live: ['good', said('live')],
  interrupted: ['warn', 'interrupted, trying again'],
  read: ['quiet', said('read')],
  refused: ['bad', said('ended')],
};

export function LogPage({ catalog, path }: DrawnProps): ComponentChildren {
  const topic = useTopic({ path, begin: { limit: String(mostLines) }, isLive: true, most: mostLines }).value;
  const frozen = useSignal<readonly TopicRecord[] | undefined>(undefined);
  const { query } = address.value;
  const least = Math.max(
    0,
    levels.findIndex((one) => one === query.get('level')),
  );
  const text = query.get('contains') ?? '';
  const newestFirst = topic.records.toReversed().slice(0, mostLines);
  const records = frozen.value ?? newestFirst;
  const shown = records.filter((record) => isWanted(record, least, text.toLowerCase()));
  const newer = frozen.value === undefined ? 0 : newerThan(newestFirst, frozen.value);
  const [tone, word] = states[topic.state];
  if (isDenied(topic.error))
    return (
      <>
        <Heading catalog={catalog} title="Log" path={path} />
        <Problem error={topic.error} />
      </>
    );
  return (
    <>
      <Heading catalog={catalog} title="Log" path={path}>
        <p class="badges">
          {frozen.value === undefined ? <Chip tone={tone}>{word}</Chip> : <Chip tone="quiet">paused</Chip>}
          <span class="quiet">The newest {mostLines} lines of this appliance, newest first.</span>
        </p>
        <div class="buttons">
          <button
            type="button"
            aria-pressed={frozen.value !== undefined}
            onClick={() => (frozen.value = frozen.value === undefined ? newestFirst : undefined)}
          >
            {frozen.value === undefined ? 'Pause' : newer === 0 ? 'Go on' : `Go on, ${newer.toLocaleString(locale)} newer`}
          </button>
        </div>
      </Heading>
      <LogFilters path={path} level={levels[least] ?? 'debug'} text={text} />
      {topic.error !== undefined && <Problem error={topic.error} />}
      {shown.length > 0 && (
        <ol class="log" aria-label="Lines of the log">
          {shown.map((record) => (
            <Line key={`${String(record['occurred-at'])} ${String(record['component'])} ${String(record['message'])}`} record={record} />
          ))}
        </ol>
      )}
      {shown.length === 0 && topic.error === undefined && (
        <p class="empty" role="status">
          {records.length > 0 ? 'No line matches.' : topic.state === 'reading' ? 'Reading …' : 'Nothing has been written yet.'}
        </p>
      )}
    </>
  );
}

function LogFilters({ path, level, text }: { readonly path: string; readonly level: string; readonly text: string }): ComponentChildren {
  const change = (form: HTMLFormElement): void => {
    const wanted = typedTexts(form).filter(([name, value]) => value !== '' && !(name === 'level' && value === levels[0]));
    go(hrefOf(path, Object.fromEntries(wanted)), 'replace');
  };
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        change(event.currentTarget);
      }}
    >
      <div class="filter">
        <label for="level">At least</label>
        <select id="level" name="level" onChange={({ currentTarget: { form } }) => form !== null && change(form)}>
          {levels.map((one) => (
            <option key={one} value={one} selected={one === level}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <div class="filter">
        <label for="contains">Contains</label>
        <input
          id="contains"
          name="contains"
          type="text"
          defaultValue={text}
          {...exact}
          onInput={({ currentTarget: { form } }) => form !== null && change(form)}
        />
      </div>
    </form>
  );
}

function Line({ record }: { readonly record: TopicRecord }): ComponentChildren {
  const { level, component, message, tenant, fields } = record;
  const word = typeof level === 'string' ? level : 'info';
  const hasFields = typeof fields === 'object' && fields !== null && Object.keys(fields).length > 0;
  return (
    <li>
      <PlainTime at={timestampOf(record)} />
      <span class="level">
        {tones[word] === undefined ? <span class="quiet">{visible(word)}</span> : <Chip tone={tones[word]}>{word}</Chip>}
      </span>
      <span class="message">
        <span class="quiet">
          {visible(textOf(component ?? ''))}
          {typeof tenant === 'string' && ` · ${visible(tenant)}`}
        </span>{' '}
        <bdi>{visible(textOf(message ?? ''))}</bdi>
        {hasFields && (
          <details>
            <summary>More</summary>
            <dl>
              {Object.entries(fields).map(([name, value]) => [
                <dt key={`${name}:name`}>
                  <bdi>{visible(name)}</bdi>
                </dt>,
                <dd key={`${name}:value`}>
                  <bdi>{visible(textOf(value), 'lines')}</bdi>
                </dd>,
              ])}
            </dl>
          </details>
        )}
      </span>
    </li>
  );
}

function isWanted(record: TopicRecord, least: number, text: string): boolean {
  const level = levels.findIndex((one) => one === record['level']);
  return (level < 0 || level >= least) && (text === '' || JSON.stringify(record).toLowerCase().includes(text));
}

function newerThan(all: readonly TopicRecord[], frozen: readonly TopicRecord[]): number {
  const [newest] = frozen;
  const last = newest === undefined ? '' : timestampOf(newest);
  return all.filter((record) => timestampOf(record) > last).length;
}
