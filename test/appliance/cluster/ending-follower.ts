// A process whose follower ends while a message to it is on its way: asks meanwhile, and prints that the successor has answered.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { FollowerLink } from '../../../appliance/cluster/replication/link.ts';
import { type FollowerHandlers, followerRequests, linkRequests } from '../../../appliance/cluster/replication/messages.ts';
import { socketPort } from '../../../appliance/cluster/replication/socket-port.ts';
import { openChannel } from '../../../appliance/processes/channel.ts';
import { machineMoment } from '../../../core/cluster/validity.ts';

/** More than the buffers of a socket hold. */
const largeBytes = 4 << 20;
const turnMs = 200;

const [socket = ''] = process.argv.slice(2);
const report = (line: string): void => console.error(line);
const handlers = { wrappedKeys: () => ({ outcome: {} }) } as unknown as FollowerHandlers;
let first: Socket | undefined;
// The first one reads nothing and says that it will send nothing any more; its successor serves.
const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (connected) => {
  if (first === undefined) first = connected;
  else {
    openChannel({ port: socketPort(connected), asks: linkRequests, serves: followerRequests, handlers, report });
    connected.resume();
  }
});
server.listen(socket);
await once(server, 'listening');

const link = new FollowerLink({ caller: 1, appliance: 'a', socket, moment: machineMoment, report });
link.replaceWrappedKeys(new Uint8Array(largeBytes), new Uint8Array(1)).catch(() => undefined);
await once(server, 'connection');
await setTimeout(turnMs);
(first as unknown as Socket).end();
await setTimeout(turnMs);
const asked = link.wrappedKeys();
await setTimeout(turnMs);
first?.destroy();
await asked;
console.log('answered');
process.exit(0);
