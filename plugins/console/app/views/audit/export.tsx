// Export of the time that is shown: lines with what proves them, and rows for a spreadsheet.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { may } from '../../api/may.ts';
import { saveFile } from '../../marks/save-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import type { TopicQuery } from '../../topics/read-topic.ts';
import { exportHeads, exportLines, exportRows, nameOfRange, type Range } from './export.ts';

const words = {
  title: 'Export this time',
  lines: 'JSON lines, all records',
  rows: 'CSV, as filtered',
  heads: 'Keys and signed heads',
  about:
    'JSON lines have every record of this time as it was written, whatever the filters are, and two minutes more: each record is proven by those up to the next signed head. Keep keys and heads on another machine.',
  aboutOwn: 'JSON lines have every record of this time that your tenant may see, whatever the filters are.',
  verify: 'Then anybody can prove it:',
  command: (name: string): string => `keystorectl audit verify ${name}.jsonl --keys audit-heads.json`,
  working: 'Collecting …',
} as const;

export type ExportProps = {
  readonly path: string;
  /** the time that is shown, as of the click */
  readonly range: () => Range;
  readonly filters: TopicQuery;
};

export function Export({ path, range, filters }: ExportProps): ComponentChildren {
  const isWorking = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const hasHeads = may('read', '/v1/state/system/audit').value === 'yes';
  const make = async (ending: string, content: (wanted: Range, signal: AbortSignal) => Promise<Blob | string>, name?: string) => {
    const now = new AbortController();
    controller.current = now;
    error.value = undefined;
    isWorking.value = true;
    const wanted = range();
    try {
      saveFile(await content(wanted, now.signal), `${name ?? nameOfRange(wanted)}.${ending}`);
    } catch (thrown) {
      if (!now.signal.aborted) error.value = thrown;
    } finally {
      isWorking.value = false;
    }
  };
  return (
    <details class="panel">
      <summary>{words.title}</summary>
      <p class="quiet">{hasHeads ? words.about : words.aboutOwn}</p>
      {error.value !== undefined && <Problem error={error.value} />}
      <div class="buttons">
        <button
          type="button"
          disabled={isWorking.value}
          onClick={() => void make('jsonl', (wanted, signal) => exportLines(path, wanted, signal))}
        >
          {words.lines}
        </button>
        <button
          type="button"
          disabled={isWorking.value}
          onClick={() => void make('csv', (wanted, signal) => exportRows(path, wanted, filters, signal))}
        >
          {words.rows}
        </button>
        {hasHeads && (
          <button
            type="button"
            disabled={isWorking.value}
            onClick={() => void make('json', (_, signal) => exportHeads(signal), 'audit-heads')}
          >
            {words.heads}
          </button>
        )}
        {isWorking.value && (
          <>
            <span role="status" class="quiet">
              {words.working}
            </span>
            <button type="button" onClick={() => controller.current?.abort()}>
              Stop
            </button>
          </>
        )}
      </div>
      {hasHeads && (
        <>
          <p class="quiet">{words.verify}</p>
          <pre>{words.command(nameOfRange(range()))}</pre>
        </>
      )}
    </details>
  );
}
