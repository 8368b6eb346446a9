// The secret type of all floors. It is declared on the HSM floor, which takes PINs and imports nothing from here.
export { revealSecret, Secret } from '../../hsm/api.ts';
