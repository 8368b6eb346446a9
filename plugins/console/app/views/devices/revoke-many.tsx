// Many devices at once: their lines revoked for one reason, or a one-time secret for each with which it enrols again.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { guardLeaving } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { Refusal, sendAsNow, type send } from '../../api/request.ts';
import { inputOf, resolve } from '../../description/schema.ts';
import type { Catalog } from '../../description/catalog.ts';
import { ConfirmName, isConfirmed } from '../../forms/confirm-name.tsx';
import { DataTable } from '../../marks/data-table.tsx';
import { Progress } from '../../marks/progress.tsx';
import { saveFile } from '../../marks/save-button.tsx';
import { useUntilEnd } from '../../marks/until-end.ts';
import { visible } from '../../parts/visible.ts';
import { csvOf } from '../../marks/csv.ts';
import { authorityStatePath } from '../authorities/state.ts';
import { locale } from '../../language/language.ts';
import { lastOfLines, titleOfDevice, type Device } from './devices.ts';
import { readAlike, type Authority } from './use-issued.ts';

const words = {
  revoke: 'Revoke',
  enrol: 'Make a secret for each, to enrol again',
  confirm: (count: number): string =>
    `This revokes all certificates of ${count.toLocaleString(locale)} ${count === 1 ? 'device' : 'devices'} for good. Each is refused until it enrols again.`,
  secrets: 'The secrets are in the file, this once. Each device sends its own, by SCEP as challenge password, or by CMP.',
  stopped: 'The rest was left as it was.',
} as const;

type Done = { readonly device: string; readonly authority: string; readonly outcome: string; readonly isDone: boolean };
type Running = { readonly done: number; readonly total: number };

export type RevokeManyProps = {
  readonly catalog: Catalog;
  readonly authorities: readonly Authority[];
  readonly devices: readonly Device[];
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

/** Long because it is one view from top to bottom. */
export function RevokeMany({ catalog, authorities, devices, onChanged, onClose }: RevokeManyProps): ComponentChildren {
  const [reason, typed] = [useSignal('unspecified'), useSignal('')];
  const running = useSignal<Running | undefined>(undefined);
  const results = useUntilEnd<readonly Done[]>();
  const confirm = { name: `${devices.length} revoked`, what: words.confirm(devices.length) };
  const protocolsOf = (name: string): Authority | undefined => authorities.find((one) => one.name === name);
  const takesSecrets = devices.every(({ current: { authority } }) => {
    const { scep, cmp } = protocolsOf(authority) ?? {};
    return scep?.enabled === true || cmp?.enabled === true;
  });
  const can = (action: string): boolean =>
    devices.every(({ current }) => typeof may('execute', `${authorityStatePath(current.authority)}/${action}`).value !== 'object');
  const each = async (act: (device: Device, flow: typeof send) => Promise<string>): Promise<void> => {
    const done: Done[] = [];
    const flow = sendAsNow();
    guardLeaving(() => window.confirm('Not all devices are done. Leave the page and stop?'));
    for (const [index, device] of devices.entries()) {
      running.value = { done: index, total: devices.length };
      const row = { device: titleOfDevice(device), authority: device.current.authority };
      try {
        done.push({ ...row, outcome: await act(device, flow), isDone: true });
      } catch (error) {
        done.push({ ...row, outcome: error instanceof Refusal ? (error.detail ?? error.message) : String(error), isDone: false });
        // There is no answer, or the session is over: going on would only fail again.
        if (!(error instanceof Refusal) || error.status === 0 || error.status === 401) break;
      }
    }
    guardLeaving(undefined);
    running.value = undefined;
    results.value = done;
    onChanged();
  };
  const revoke = (): Promise<void> =>
    each(async (device, flow) => {
      let revoked = 0;
      for (const { authority, serial } of lastOfLines(device, await readAlike(device, flow))) {
        const body = { serial, reason: reason.value, line: true };
        const answer = await flow({ method: 'POST', path: `${authorityStatePath(authority)}/revoke`, body });
        revoked += Number((answer.body as { readonly revoked?: unknown }).revoked);
      }
      return `${revoked} revoked`;
    });
  const enrol = async (): Promise<void> => {
    const rows: string[][] = [];
    await each(async ({ current: { authority, subject, names } }, flow) => {
      const path = `${authorityStatePath(authority)}/make-enrolment-secret`;
      const { body } = await flow({
        method: 'POST',
        path,
        body: { subject, names: [...names], 'for-cmp': protocolsOf(authority)?.cmp?.enabled === true },
      });
      const { id = '', secret = '', until = '' } = body as Readonly<Record<string, string>>;
      rows.push([subject, authority, id, secret, until]);
      return `secret until ${until}`;
    });
    if (rows.length > 0) saveFile(csvOf([['subject', 'authority', 'id', 'secret', 'until'], ...rows]), 'enrolment-secrets.csv');
  };
  return (
    <section class="card" aria-labelledby="many-title">
      <div class="card-head">
        <h2 id="many-title">
          {devices.length.toLocaleString(locale)} {devices.length === 1 ? 'device' : 'devices'} chosen
        </h2>
        <button type="button" onClick={onClose} disabled={running.value !== undefined}>
          Choose none
        </button>
      </div>
      {running.value !== undefined ? (
        <Progress label="Devices done" {...running.value}>
          {running.value.done.toLocaleString(locale)} of {running.value.total.toLocaleString(locale)} done
        </Progress>
      ) : (
        <>
          {can('revoke') && (
            <form
              class="act"
              onSubmit={(event) => {
                event.preventDefault();
                if (isConfirmed(confirm, typed)) void revoke();
              }}
            >
              <div class="field">
                <label for="many-reason">Why</label>
                <select id="many-reason" value={reason.value} onChange={({ currentTarget }) => (reason.value = currentTarget.value)}>
                  {reasonsIn(catalog).map((one) => (
                    <option key={one} value={one}>
                      {one.replaceAll('-', ' ')}
                    </option>
                  ))}
                </select>
              </div>
              <ConfirmName confirm={confirm} typed={typed} id="confirm-many" />
              <div class="buttons">
                <button type="submit" class="danger" disabled={!isConfirmed(confirm, typed)}>
                  {words.revoke}
                </button>
              </div>
            </form>
          )}
          {takesSecrets && can('make-enrolment-secret') && (
            <div class="buttons">
              <button type="button" onClick={() => void enrol()}>
                {words.enrol}
              </button>
              <span class="quiet">{words.secrets}</span>
            </div>
          )}
        </>
      )}
      {results.value !== undefined && <Results results={results.value} total={devices.length} />}
    </section>
  );
}

function Results({ results, total }: { readonly results: readonly Done[]; readonly total: number }): ComponentChildren {
  const failed = results.filter(({ isDone }) => !isDone);
  return (
    <div role="status">
      <p>
        {(results.length - failed.length).toLocaleString(locale)} done
        {failed.length > 0 && `, ${failed.length.toLocaleString(locale)} refused`}. {results.length < total && words.stopped}
      </p>
      {failed.length > 0 && (
        <DataTable
          label="Refused"
          columns={[
            { head: 'Device', is: 'name', cell: ({ device }) => visible(device) },
            { head: 'Why', cell: ({ outcome }) => visible(outcome) },
          ]}
          rows={failed}
          keyOf={(_, index) => index}
        />
      )}
    </div>
  );
}

function reasonsIn({ entries, document }: Catalog): readonly string[] {
  const entry = entries.find(({ path }) => path === '/v1/state/keystore/tls/ca/{name}/revoke');
  const schema = (entry === undefined ? undefined : inputOf(entry.operation, document))?.properties?.['reason'];
  return (schema === undefined ? [] : (resolve(schema, document).schema.enum ?? [])).map(String);
}
