// What a start says of a worker that has ended by itself: memory that ran out is no cause of a crash.
import { expect, test } from 'vitest';
import { endWhileStarting } from '../../../appliance/processes/watch/crashes.ts';

test.each(['SIGSEGV', 'SIGBUS', 'SIGABRT'])('%s is a crash, of which the store may be the cause, and from nowhere outside', (signal) => {
  const text = endWhileStarting(signal, '/data');
  expect(text).toMatch(new RegExp(`^a worker process crashed while starting \\(${signal}\\); what it wrote is above`));
  expect(text).toContain('/data/store may be damaged: put it back from a backup');
  expect(text).not.toContain('outside');
});

test('SIGKILL comes from outside, and an exit code from a worker that has said why', () => {
  expect(endWhileStarting('SIGKILL', '/data')).toContain('was ended from outside while starting (SIGKILL)');
  expect(endWhileStarting('exit code 1', '/data')).toContain('(exit code 1); its message is above');
});
