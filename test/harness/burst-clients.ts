// A process of its own that is a burst of devices: so many TLS connections at once, one request on each. Takes its orders as JSON in
// the first argument, and prints what came of them: how often each status, and how often each fault of a connection.
import { request } from 'node:https';

/** What the process is told. */
export type BurstOrders = {
  readonly url: string;
  readonly count: number;
  readonly caPem: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

const { url, count, caPem, method, headers, body } = JSON.parse(process.argv[2] ?? '') as BurstOrders;
const outcomes = await Promise.all(Array.from({ length: count }, () => ask()));
process.stdout.write(
  JSON.stringify(
    Object.fromEntries(
      Map.groupBy(outcomes, (outcome) => outcome)
        .entries()
        .map(([what, all]) => [what, all.length]),
    ),
  ),
);

function ask(): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, { method, headers, ca: caPem, agent: false }, (response) => {
      response.on('error', (error) => resolve(error.message));
      response.on('end', () => resolve(String(response.statusCode))).resume();
    });
    sent.on('error', (error) => resolve(error.message)).end(body);
  });
}
