// The test appliance with helpers for transit keys: create, change, run actions, and check the answers.
import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import type { TestClock } from '../../harness/clock.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import random from '../../../plugins/random/index.ts';
import transit from '../../../plugins/transit/index.ts';
import { type Answer, type TestAppliance, startTestAppliance } from '../../harness/appliance.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';

export type { Answer } from '../../harness/appliance.ts';

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';
const silentActions = ['rotate', 'trim', 'import', 'restore'];

export type TransitHarness = ReturnType<typeof harnessOf>;

export type HarnessOptions = {
  /** beside random and transit */
  readonly plugins?: readonly AnyPlugin[];
  readonly clock?: TestClock;
  /** of an earlier start in the same directory */
  readonly token?: TokenConfig;
  readonly rootToken?: string;
  /** sections of the configuration, by plugin */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** beside the SoftHSM2 token */
  readonly moreTokens?: readonly TokenConfig[];
};

/** Starts an appliance with the plugins random and transit. */
export async function startTransitHarness(directory: string, options: HarnessOptions = {}): Promise<TransitHarness> {
  const { plugins = [], token = await makeSoftToken(directory), moreTokens = [], ...others } = options;
  return harnessOf(
    await startTestAppliance({ directory, plugins: [random, transit, ...plugins], tokens: [token, ...moreTokens], ...others }),
    token,
  );
}

function harnessOf(appliance: TestAppliance, token: TokenConfig) {
  const request: TestAppliance['request'] = (...parts) => appliance.request(...parts);
  const act = (name: string, action: string, body?: unknown): Promise<Answer> => request('POST', `${state}/${name}/${action}`, body);
  /** The audit records so far, read from the files. */
  const records = (): readonly Record<string, unknown>[] => {
    const directory = `${appliance.directory}/audit`;
    const lines = readdirSync(directory).flatMap((file) => readFileSync(`${directory}/${file}`, 'utf8').split('\n'));
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return {
    ...appliance,
    request,
    token,
    stop: () => appliance.close(),
    records,
    /** Creates a key. */
    create: (name: string, fields: object = {}) => ok(201, request('POST', config, { name, ...fields })),
    config: (name: string) => ok(200, request('GET', `${config}/${name}`)),
    state: (name: string) => ok(200, request('GET', `${state}/${name}`)),
    patch: (name: string, fields: object) => request('PATCH', `${config}/${name}`, fields),
    put: (name: string, fields: object) => request('PUT', `${config}/${name}`, fields),
    remove: (name: string) => request('DELETE', `${config}/${name}`),
    /** Runs an action. */
    act,
    /** Runs an action that must succeed, and gives its answer. */
    do: (name: string, action: string, body?: unknown) => ok(silentActions.includes(action) ? 204 : 200, act(name, action, body)),
    /** Runs an action that must be refused with this status and code, and gives the problem. */
    refused: async (status: number, code: string, name: string, action: string, body?: unknown) => {
      const answer = await act(name, action, body);
      expect({ status: answer.status, code: answer.body?.code }).toEqual({ status, code });
      return answer.body;
    },
    /** Everything in the audit trail and the log, as one text. */
    written: () => JSON.stringify([records(), appliance.logged]),
    /** Runs every job once. */
    runJobs: async () => {
      appliance.store.refresh();
      for (const job of appliance.jobs) await job.run(AbortSignal.timeout(30_000));
    },
    /** Expects every invariant of the store and of the plugins to hold. */
    expectSound: async () => {
      appliance.store.refresh();
      expect(await appliance.check()).toEqual([]);
    },
  };
}

/** Expects a status and gives the body. */
export async function ok(status: number, answer: Promise<Answer>): Promise<Answer['body']> {
  const { status: got, body } = await answer;
  expect({ status: got, ...(got === status ? {} : { body }) }).toEqual({ status });
  return body;
}

/** Status and code of a refusal. */
export async function codeOf(answer: Promise<Answer>): Promise<{ status: number; code: string }> {
  const { status, body } = await answer;
  return { status, code: body?.code };
}

/** Base64 of a text or of octets. */
export function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64');
}
