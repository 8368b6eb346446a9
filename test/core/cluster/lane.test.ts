// The outcome of a transaction becomes known whatever is lost, late or sent twice, and then it stays what it is.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Lane } from '../../../core/cluster/lane.ts';
import { layout } from '../../../core/cluster/layout.ts';
import { put, type TxnRequest } from '../../../core/etcd/messages.ts';
import { ModelEtcd } from '../../harness/model-etcd.ts';

const key = layout.lane('m', 0);
const record = layout.record('things\0a\0');

/** What the network does with a request: `late`: it arrives after others that were sent later; `unanswered`: it arrives, the answer does not. */
const fate = fc.constantFrom('answered', 'lost', 'late', 'unanswered');
const transaction = fc.record({ fate, fences: fc.array(fate, { maxLength: 4 }), arrivesAfter: fc.nat(6) });

function requestOf(lane: Lane, name: string): TxnRequest {
  const { compare, write } = lane.begin(name);
  return { compare, success: [...write, put(record, Buffer.from(name))], failure: [] };
}

/** The names that were ever written to the record. */
function committed(etcd: ModelEtcd): string[] {
  return etcd.log.flat().flatMap(({ kv }) => (kv.key.equals(record) ? [kv.value.toString()] : []));
}

describe('a lane', () => {
  test('says of each transaction what is true of it for ever, through losses, late arrivals and repeated fences', () => {
    fc.assert(
      fc.property(fc.array(transaction, { minLength: 1, maxLength: 8 }), (drawn) => {
        const etcd = new ModelEtcd();
        const late: { readonly request: TxnRequest; after: number }[] = [];
        const arrive = (isAll = false): void => {
          for (const one of late.splice(0)) {
            if (isAll || one.after-- <= 0) etcd.txn(one.request);
            else late.push(one);
          }
        };
        const send = (request: TxnRequest, how: string, after: number): ReturnType<ModelEtcd['txn']> | undefined => {
          arrive();
          if (how === 'late') late.push({ request, after });
          if (how === 'lost' || how === 'late') return undefined;
          const answer = etcd.txn(request);
          return how === 'answered' ? answer : undefined;
        };
        const lane = new Lane(key, { revision: 0, last: '' });
        const said = new Map<string, boolean>();
        for (const [index, { fate: how, fences, arrivesAfter }] of drawn.entries()) {
          const name = `change ${index}`;
          const answer = send(requestOf(lane, name), how, arrivesAfter);
          if (answer !== undefined) said.set(name, lane.answered(answer).isCommitted);
          for (const one of [...fences, 'answered']) {
            if (!lane.isPending) break;
            const fenced = send(lane.fence(), one, arrivesAfter);
            const settled = fenced === undefined ? undefined : lane.fenced(fenced);
            if (settled !== undefined) said.set(name, settled.isCommitted);
          }
        }
        arrive(true);
        const wrong = [...said].filter(
          ([name, isCommitted]) => committed(etcd).filter((one) => one === name).length !== Number(isCommitted),
        );
        return said.size === drawn.length && wrong.length === 0;
      }),
      { numRuns: 300 },
    );
  });

  test('a transaction that is still on its way when the fence wins never commits', () => {
    const etcd = new ModelEtcd();
    const lane = new Lane(key, { revision: 0, last: '' });
    const request = requestOf(lane, 'late');
    expect(lane.fenced(etcd.txn(lane.fence()))).toMatchObject({ isCommitted: false });
    expect(etcd.txn(request).succeeded).toBe(false);
    expect(committed(etcd)).toEqual([]);
  });

  test('the revision of a commit whose answer was lost is found by the fence', () => {
    const etcd = new ModelEtcd();
    const lane = new Lane(key, { revision: 0, last: '' });
    const { header } = etcd.txn(requestOf(lane, 'unanswered'));
    etcd.txn({ compare: [], success: [put(record, Buffer.from('another'))], failure: [] });
    expect(lane.fenced(etcd.txn(lane.fence()))).toEqual({ isCommitted: true, revision: Number(header.revision) });
    expect(etcd.txn(requestOf(lane, 'next')).succeeded).toBe(true);
  });

  test('a second process under the same identity is noticed', () => {
    const etcd = new ModelEtcd();
    const [lane, other] = [new Lane(key, { revision: 0, last: '' }), new Lane(key, { revision: 0, last: '' })];
    requestOf(lane, 'ours');
    etcd.txn(requestOf(other, 'theirs'));
    expect(lane.fenced(etcd.txn(lane.fence()))).toBeUndefined();
  });

  test('what the server has refused leaves the lane as it was', () => {
    const etcd = new ModelEtcd();
    const lane = new Lane(key, { revision: 0, last: '' });
    lane.begin('refused');
    expect(lane.answered(undefined)).toMatchObject({ isCommitted: false });
    expect(etcd.txn(requestOf(lane, 'next')).succeeded).toBe(true);
  });

  test('one transaction at a time', () => {
    const lane = new Lane(key, { revision: 0, last: '' });
    expect(() => lane.fence()).toThrow(TypeError);
    lane.begin('first');
    expect(() => lane.begin('second')).toThrow(TypeError);
  });
});
