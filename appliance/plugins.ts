// The plugins of this appliance: an explicit list, so that importing a file never changes what runs.
import type { AnyPlugin } from '../core/plugin/plugin.ts';
import ca from '../plugins/ca/index.ts';
import certificateLogin from '../plugins/certificate-login/index.ts';
import console from '../plugins/console/index.ts';
import enrolment from '../plugins/enrolment/index.ts';
import est from '../plugins/est/index.ts';
import jwt from '../plugins/jwt/index.ts';
import kmip from '../plugins/kmip/index.ts';
import oidc from '../plugins/oidc/index.ts';
import openpgp from '../plugins/openpgp/index.ts';
import random from '../plugins/random/index.ts';
import acme from '../plugins/acme/index.ts';
import cmp from '../plugins/cmp/index.ts';
import scep from '../plugins/scep/index.ts';
import transit from '../plugins/transit/index.ts';
import vault from '../plugins/vault/index.ts';

export const plugins: readonly AnyPlugin[] = [
  random,
  transit,
  openpgp,
  oidc,
  jwt,
  ca,
  certificateLogin,
  est,
  enrolment,
  scep,
  acme,
  cmp,
  kmip,
  console,
  vault,
];
