// The backup that runs, wherever it was begun.
import type { ComponentChildren } from 'preact';
import { Progress, sizeOf } from '../../marks/progress.tsx';
import { Moment } from '../../times/moments.tsx';
import { visible } from '../../parts/visible.ts';
import type { BackupStatus } from './state.ts';

const begunBy: Readonly<Record<NonNullable<BackupStatus['running']>['purpose'], string>> = {
  request: 'as the answer to a request',
  pull: 'as the answer to a program',
  schedule: 'by the schedule',
  now: 'by hand, to the targets',
};

export function RunningBackup({ running }: { readonly running: NonNullable<BackupStatus['running']> }): ComponentChildren {
  const { purpose, stage, target, 'done-bytes': done, 'total-bytes': total, ...times } = running;
  return (
    <Progress label="Backup" done={done} total={total}>
      {stage === 'copying' ? 'The store is being copied' : `Sent to ${visible(target)}`}: {sizeOf(done)}
      {total > 0 && ` of ${sizeOf(total)}`}. Begun {begunBy[purpose]} <Moment at={times['started-at']} />.
    </Progress>
  );
}
