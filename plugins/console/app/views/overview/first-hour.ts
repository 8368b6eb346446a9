// Steps of the first hour of an appliance, and which of them are done by what it says of itself.

export type Step = 'ca' | 'sign-in' | 'second' | 'backup' | 'drill' | 'root';

export type Facts = {
  /** sign-in services of the tenant */
  readonly services: number;
  /** tokens and sessions that work now */
  readonly tokens: readonly { readonly 'user-kind'?: string; readonly identity?: unknown; readonly session?: unknown }[];
  readonly backups: { readonly targets?: number; readonly 'last-success-at'?: string; readonly 'last-taken-at'?: string };
  /** a drill has proven a backup */
  readonly isDrilled: boolean;
  /** steps that a person has ticked */
  readonly ticked: readonly string[];
};

/** People as the appliance knows them apart: two names at one provider are two people. */
const leastPeople = 2;

export function firstHourOf({
  services,
  tokens,
  backups,
  isDrilled,
  ticked,
}: Facts): readonly { readonly step: Step; readonly isDone: boolean }[] {
  const people = new Set(tokens.filter((one) => one['user-kind'] === 'sign-in').map(({ identity }) => JSON.stringify(identity)));
  const isRootUsed = tokens.some((one) => one['user-kind'] === 'root-token' && one.session !== undefined);
  return [
    { step: 'ca', isDone: ticked.includes('ca') },
    { step: 'sign-in', isDone: services > 0 },
    { step: 'second', isDone: people.size >= leastPeople },
    { step: 'backup', isDone: (backups['last-success-at'] ?? backups['last-taken-at']) !== undefined || (backups.targets ?? 0) > 0 },
    { step: 'drill', isDone: isDrilled },
    // Without another way in, a root token that nobody uses is not put away but all there is.
    { step: 'root', isDone: !isRootUsed && people.size > 0 },
  ];
}
