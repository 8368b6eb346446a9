// The method LIST, which Node's parser refuses: exchanged at the first octet of a request, and nowhere else.
import { array, assert, constantFrom, integer, property, tuple } from 'fast-check';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestStarts } from '../../../core/http/listener/list-method.ts';
import { listenHttps, type Listener } from '../../../core/http/listener/listeners.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const at = temporaryDirectory();
let listener: Listener;
const seen: string[] = [];

beforeAll(async () => {
  listener = await listenHttps({
    ...{ host: '127.0.0.1', port: 0, identity: selfSignedIdentity(at()), takesList: true },
    handler(request, response) {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push(`${request.method} ${String(request.headers['x-value'] ?? '')}|${body}`);
        response.end('ok');
      });
    },
  });
});
afterAll(() => listener.close(0));

/** Sends pieces, each in a packet of its own, and answers the status lines. */
async function send(pieces: readonly string[], answers: number): Promise<readonly string[]> {
  seen.length = 0;
  const socket: TLSSocket = connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.setNoDelay(true);
  let text = '';
  const done = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (answers > 0 && text.split('HTTP/1.1 ').length > answers) resolve();
    });
    socket.on('close', () => resolve());
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  if (answers === 0) socket.end();
  await done;
  socket.destroy();
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '');
}

const head = (method: string, more = '') => `${method} /v1/transit/keys HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

describe('a connection', () => {
  test('takes LIST first, again, and in any pieces', async () => {
    expect(await send([head('LIST')], 1)).toEqual(['200']);
    expect(await send([head('LIST'), head('LIST'), head('GET'), head('LIST')], 4)).toEqual(['200', '200', '200', '200']);
    expect(seen).toEqual(['LINK |', 'LINK |', 'GET |', 'LINK |']);
    expect(await send(['L', 'IS', 'T', ' /v1 HTTP/1.1\r\nho', 'st: x\r\n\r\n', head('GET')], 2)).toEqual(['200', '200']);
    expect(seen).toEqual(['LINK |', 'GET |']);
  });

  test('takes it behind a body', async () => {
    expect(await send([head('POST', 'content-length: 5\r\n'), 'LIST ', head('LIST')], 2)).toEqual(['200', '200']);
    expect(seen).toEqual(['POST |LIST ', 'LINK |']);
  });

  test('changes no value, no body and no chunk that begins so', async () => {
    await send(['GET / HTTP/1.1\r\nhost: x\r\nx-value: ', 'LIST of things\r\n\r\n'], 1);
    expect(seen).toEqual(['GET LIST of things|']);
    await send([head('POST', 'content-length: 15\r\n'), 'LIST of things.'], 1);
    expect(seen).toEqual(['POST |LIST of things.']);
    await send([head('POST', 'transfer-encoding: chunked\r\n'), '5\r\n', 'LIST ', '\r\n0\r\n\r\n', head('GET')], 2);
    expect(seen).toEqual(['POST |LIST ', 'GET |']);
  });

  test('a request that ends in its method is none, and the next connection is served', async () => {
    expect(await send(['LIS'], 0)).not.toContain('200');
    expect(await send([head('GET')], 1)).toEqual(['200']);
  });

  test.each([
    ['LINK itself', [head('LINK')]],
    ['LIST behind another in one packet', [head('GET') + head('LIST')]],
    ['LIST behind a chunked body', [head('POST', 'transfer-encoding: chunked\r\n') + '0\r\n\r\n', head('LIST')]],
  ])('%s is refused, as without this', async (_, pieces) => {
    // The connection ends with the refusal, which may be behind the answer to what came first.
    expect((await send(pieces, Infinity)).at(-1)).toBe('400');
    expect(seen.some((line) => line.startsWith('LINK'))).toBe(false);
  });
});

describe('where requests begin', () => {
  const request = tuple(
    constantFrom('GET', 'POST', 'LIST', 'PUT'),
    integer({ min: 0, max: 40 }),
    constantFrom('LIST ', 'LINK ', '\r\n\r\n', 'x'),
  );
  const message = ([method, length, filling]: readonly [string, number, string]): string =>
    `${method} / HTTP/1.1\r\nhost: x\r\nx-value: ${filling.trim()}\r\n${length === 0 ? '' : `content-length: ${length}\r\n`}\r\n${filling.repeat(length).slice(0, length)}`;

  test('any pieces come out as one text, with the method exchanged and nothing else', () => {
    const cases = tuple(array(request, { minLength: 1, maxLength: 5 }), array(integer({ min: 1, max: 30 }), { minLength: 1 }));
    assert(
      property(cases, ([requests, sizes]) => {
        const starts = new RequestStarts(16_384);
        const wanted = requests.map((one) => message(one).replace(/^LIST /, 'LINK ')).join('');
        let got = '';
        let turn = 0;
        for (const one of requests) {
          const text = message(one);
          for (let at = 0; at < text.length;) {
            const size = sizes[turn++ % sizes.length] ?? 1;
            got += starts.take(Buffer.from(text.slice(at, at + size))).toString();
            at += size;
          }
        }
        expect(got + starts.end().toString()).toBe(wanted);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['0000000000000000014', '+14', '14, 14', '14\r\ncontent-length: 14', '0x0e', ''])(
    'a length of "%s" is read by the parser alone',
    (length) => {
      const starts = new RequestStarts(16_384);
      starts.take(Buffer.from(`POST / HTTP/1.1\r\ncontent-length: ${length}\r\n\r\n`));
      expect(starts.take(Buffer.from('LIST of things')).toString()).toBe('LIST of things');
    },
  );

  test('a head without an end is not kept for ever', () => {
    const starts = new RequestStarts(100);
    for (let at = 0; at < 10; at++) expect(starts.take(Buffer.alloc(50, 0x61))).toHaveLength(50);
  });
});
