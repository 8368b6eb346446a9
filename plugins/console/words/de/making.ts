// German texts of the pages that begin with a purpose.
import type { Words } from '../translate.ts';

export const making: Words = {
  'In addresses and lists: lower-case letters, digits and hyphens.': 'In Adressen und Listen: Kleinbuchstaben, Ziffern und Bindestriche.',
  'In addresses of the API: lower-case letters, digits and hyphens.': 'In Adressen der API: Kleinbuchstaben, Ziffern und Bindestriche.',
  'In addresses and logins: lower-case letters, digits and hyphens. It cannot be changed.':
    'In Adressen und Anmeldungen: Kleinbuchstaben, Ziffern und Bindestriche. Er lässt sich nicht ändern.',
  'What it may do': 'Was sie darf',
  'Its policies. Only such as you have yourself.': 'Ihre Richtlinien. Nur solche, die Sie selbst haben.',
  'From where': 'Von wo',
  'Addresses that it may log in from; empty: from anywhere.': 'Adressen, von denen sie sich anmelden darf; leer: von überall.',
  'A login lasts': 'Eine Anmeldung gilt',
  'A program logs in again by itself when it ends.': 'Ein Programm meldet sich selbst neu an, wenn sie endet.',
  'A secret lasts': 'Ein Geheimnis gilt',
  'Afterwards the program needs another one; empty: until it is ended.':
    'Danach braucht das Programm ein neues; leer: bis es beendet wird.',
  'A program that runs all the time': 'Ein Programm, das ständig läuft',
  'It logs in when it starts, and again by itself.': 'Es meldet sich beim Start an und danach selbst erneut.',
  'A job that runs now and then': 'Ein Job, der hin und wieder läuft',
  'A build, a backup: each login lasts an hour, each secret thirty days.':
    'Ein Build, eine Sicherung: Jede Anmeldung gilt eine Stunde, jedes Geheimnis dreißig Tage.',
  'Something that logs in once': 'Etwas, das sich einmal anmeldet',
  'A machine that is set up: its secret works a single time within a day.':
    'Eine Maschine, die eingerichtet wird: Ihr Geheimnis gilt einen Tag lang für ein einziges Mal.',
  'New application': 'Neue Anwendung',
  'A login for a program. For one key, “Give an application access” on the page of the key does it all.':
    'Ein Zugang für ein Programm. Für einen einzelnen Schlüssel erledigt „Einer Anwendung Zugriff geben“ auf der Seite des Schlüssels alles.',
  'What is it?': 'Was ist es?',
  'The next page has its role-id, and makes the secret-id with which it logs in.':
    'Die nächste Seite zeigt die Role-ID und erzeugt die Secret-ID, mit der sie sich anmeldet.',
  'Name in its certificate': 'Name im Zertifikat',
  'Empty: CN= and its name.': 'Leer: CN= und der Name.',
  'Its certificate lasts': 'Das Zertifikat gilt',
  'What it issues ends before it does.': 'Was sie ausstellt, endet vorher.',
  'Below which authority': 'Unter welcher Zertifizierungsstelle',
  'Empty: it is a root of its own.': 'Leer: Sie ist selbst eine Wurzel.',
  'Its certificate': 'Ihr Zertifikat',
  'PEM, as its owner gives it.': 'PEM, wie die Inhaberin es herausgibt.',
  'Domains that devices may have': 'Erlaubte Domains der Geräte',
  'With everything below them, such as plant.example.': 'Mit allem darunter, zum Beispiel plant.example.',
  'Certificates last': 'Zertifikate gelten',
  'Devices renew by themselves before the end.': 'Geräte erneuern sie selbst vor dem Ende.',
  'Certificates for devices': 'Zertifikate für Geräte',
  'They ask for one by themselves (EST), with a secret that is made now.':
    'Sie fordern selbst eines an (EST), mit einem Geheimnis, das jetzt erzeugt wird.',
  'the domains that you name': 'den Domänen, die Sie nennen',
  '{0} Devices enrol with a secret, which the next page shows this once, for names below {1}.':
    '{0} Geräte registrieren sich mit einem Geheimnis, das die nächste Seite einmal zeigt, für Namen unter {1}.',
  'A root': 'Eine Wurzel',
  'The one that everything trusts. Other authorities are made below it.':
    'Die, der alles vertraut. Andere Zertifizierungsstellen entstehen darunter.',
  'It signs itself, and issues nothing by itself: make another one below it for devices or servers.':
    'Sie signiert sich selbst und stellt von sich aus nichts aus: Legen Sie darunter eine weitere für Geräte oder Server an.',
  'Below my root': 'Unter meiner Wurzel',
  'It can be replaced while everything goes on trusting the root.': 'Sie kann ersetzt werden, während alles weiter der Wurzel vertraut.',
  'Only trusted': 'Nur vertraut',
  'An authority elsewhere, whose certificates count here.': 'Eine Zertifizierungsstelle außerhalb, deren Zertifikate hier gelten.',
  'Its key is elsewhere: it issues nothing here.': 'Ihr Schlüssel ist anderswo: Sie stellt hier nichts aus.',
  'New authority': 'Neue Zertifizierungsstelle',
  'Its key is made in the HSM and never leaves it.': 'Ihr Schlüssel entsteht im HSM und verlässt es nie.',
  'What is it for?': 'Wofür ist sie?',
  'Secret of first enrolment': 'Geheimnis der ersten Registrierung',
  'Devices show it once, for their first certificate. It is shown this once: keep it, or set another one later.':
    'Geräte zeigen es einmal vor, für ihr erstes Zertifikat. Es wird nur dieses eine Mal gezeigt: Verwahren Sie es, oder setzen Sie später ein anderes.',
  'secret of first enrolment': 'Geheimnis der ersten Registrierung',
  '“{0}” signs its certificate.': '„{0}“ signiert ihr Zertifikat.',
  'It is a root of its own.': 'Sie ist selbst eine Wurzel.',
  'Programs call the key by it: lower-case letters, digits and hyphens.':
    'So nennen Programme den Schlüssel: Kleinbuchstaben, Ziffern und Bindestriche.',
  'A new version every': 'Neue Version alle',
  'Nothing breaks: older versions go on decrypting and verifying. Empty: only when somebody rotates it.':
    'Es bricht nichts: Ältere Versionen entschlüsseln und prüfen weiterhin. Leer: nur wenn jemand ihn rotiert.',
  'Encrypt and decrypt': 'Verschlüsseln und entschlüsseln',
  'Data of your programs. The usual key: AES-256 in GCM, 90 days a version.':
    'Daten Ihrer Programme. Der übliche Schlüssel: AES-256 in GCM, 90 Tage je Version.',
  'Leave it unless somebody asks for another one.': 'Unverändert lassen, sofern niemand ein anderes verlangt.',
  'Programs encrypt and decrypt with {0} here; it never leaves the appliance.':
    'Programme verschlüsseln und entschlüsseln hier mit {0}; er verlässt die Appliance nie.',
  'Releases, tokens, documents. Everybody can check with the public key.':
    'Releases, Token, Dokumente. Jeder kann mit dem öffentlichen Schlüssel prüfen.',
  Algorithm: 'Algorithmus',
  'ECDSA P-256 is understood everywhere; RSA by old programs, ML-DSA holds against quantum computers.':
    'ECDSA P-256 wird überall verstanden, RSA auch von alten Programmen, ML-DSA hält Quantencomputern stand.',
  'Publish the public key': 'Öffentlichen Schlüssel veröffentlichen',
  'Anybody may then read it at the JWKS address of the tenant.': 'Jeder kann ihn dann unter der JWKS-Adresse des Mandanten lesen.',
  'Programs sign with {0}; its private key never leaves the appliance, its public key is in the state of the key.':
    'Programme signieren mit {0}; der private Schlüssel verlässt die Appliance nie, der öffentliche steht im Zustand des Schlüssels.',
  'Seal messages (MAC)': 'Nachrichten versiegeln (MAC)',
  'Both sides ask this appliance whether a message is unchanged.':
    'Beide Seiten fragen diese Appliance, ob eine Nachricht unverändert ist.',
  'AES-CMAC, as in RFC 4493.': 'AES-CMAC nach RFC 4493.',
  'Programs make and check seals with {0} here.': 'Programme bilden und prüfen hier MACs mit {0}.',
  'Let others encrypt to it': 'Andere für Sie verschlüsseln lassen',
  'RSA: anybody encrypts with the public key, only this appliance decrypts.':
    'RSA: Jeder verschlüsselt mit dem öffentlichen Schlüssel, nur diese Appliance entschlüsselt.',
  Size: 'Größe',
  'RSA-OAEP. 3,072 bits last for years.': 'RSA-OAEP. 3.072 Bit reichen für Jahre.',
  'Others encrypt to the public key of {0}, and only programs that may use it here decrypt.':
    'Andere verschlüsseln für den öffentlichen Schlüssel von {0}, und nur Programme, die ihn hier verwenden dürfen, entschlüsseln.',
  'Only check signatures': 'Nur Signaturen prüfen',
  'Of somebody else, whose public key or certificate you have.':
    'Von jemand anderem, dessen öffentlichen Schlüssel oder Zertifikat Sie haben.',
  'PEM, base64 of DER, a JWK, or a certificate.': 'PEM, Base64 von DER, ein JWK oder ein Zertifikat.',
  'What kind of key it is.': 'Welche Art Schlüssel es ist.',
  'Programs check signatures with {0}; nothing can be signed with it.':
    'Programme prüfen Signaturen mit {0}; signieren lässt sich damit nichts.',
  OpenPGP: 'OpenPGP',
  'Sign packages, mails and releases so that gpg and sq understand it.':
    'Pakete, Mails und Releases so signieren, dass gpg und sq es verstehen.',
  'User ID': 'User-ID',
  'Whose key it is, as people see it: Release Team <release@example.com>.':
    'Wessen Schlüssel es ist, wie andere es sehen: Release Team <release@example.com>.',
  'RSA is understood by every package manager, Ed25519 by those of the last years.':
    'RSA wird von jedem Paketmanager verstanden, Ed25519 von denen der letzten Jahre.',
  '{0} is the primary key of “{1}”.': '{0} ist der Primärschlüssel von „{1}“.',
  'Bring a key you have': 'Eigenen Schlüssel mitbringen',
  'The next page takes it: PKCS#8, JWK, OpenSSH, OpenPGP, raw or wrapped.':
    'Die nächste Seite nimmt ihn: PKCS#8, JWK, OpenSSH, OpenPGP, roh oder verpackt.',
  'What kind it is': 'Welche Art es ist',
  'Type and size must be those of the key that you bring.': 'Art und Größe müssen die des mitgebrachten Schlüssels sein.',
  'Makes {0}, and then asks for its material.': 'Legt {0} an und fragt dann nach dem Material.',
  'New key': 'Neuer Schlüssel',
  'Say what it should do: everything else has usual values.': 'Sagen Sie, was er tun soll: Alles andere hat übliche Werte.',
  'What should it do?': 'Was soll er tun?',
  'Who may use it': 'Wer ihn verwenden darf',
  '{0} those whose policies say so already': '{0} alle, deren Richtlinien es schon sagen',
  '{0} an application, on the next page': '{0} eine Anwendung, auf der nächsten Seite',
  '{0}, and {1}.': '{0}, und {1}.',
  'It is rotated by hand': 'Er wird von Hand rotiert',
  'It gets a new version every {0}': 'Er erhält eine neue Version alle {0}',
  'its material may be exported': 'sein Material darf exportiert werden',
  'its material cannot be exported': 'sein Material kann nicht exportiert werden',
  'the key': 'dem Schlüssel',
  'Address of its metadata': 'Adresse der Metadaten',
  'Made of what you typed above.': 'Ergibt sich aus Ihren Angaben oben.',
  'Client ID': 'Client-ID',
  'The provider shows it when the client is registered.': 'Der Anbieter zeigt sie, wenn der Client registriert ist.',
  'Client secret': 'Client-Secret',
  'The provider shows it once. It is kept here and never shown.': 'Der Anbieter zeigt es einmal. Es wird hier aufbewahrt und nie gezeigt.',
  'Claim with the roles': 'Claim mit den Rollen',
  'Its values are the names of roles that you make here.': 'Seine Werte sind die Namen der Rollen, die Sie hier anlegen.',
  'New sign-in service': 'Neuer Anmeldedienst',
  'People sign in with the account they have.': 'Personen melden sich mit ihrem vorhandenen Konto an.',
  'Where do they have it?': 'Wo haben sie es?',
  'Create and test': 'Anlegen und testen',
  'Redirect address': 'Redirect-Adresse',
  'redirect address': 'Redirect-Adresse',
  'The appliance asks the provider now whether it can be used.': 'Die Appliance fragt den Anbieter jetzt, ob er sich verwenden lässt.',
  Test: 'Test',
  'asking the provider …': 'Anbieter wird gefragt …',
  'It can be used': 'Er lässt sich verwenden',
  'It cannot be used yet': 'Er lässt sich noch nicht verwenden',
  'Make its first role': 'Erste Rolle anlegen',
  'Name for people': 'Anzeigename',
  'What pages call it.': 'So nennen ihn die Seiten.',
  'What it may do at most': 'Was er höchstens darf',
  'Empty: what tenants of its kind may do.': 'Leer: was Mandanten seiner Art dürfen.',
  'A team or an application': 'Ein Team oder eine Anwendung',
  'Keys, certificates and logins of its own, apart from everybody else’s.':
    'Eigene Schlüssel, Zertifikate und Zugänge, getrennt von allen anderen.',
  'A provider of the site': 'Ein Betreiber des Standorts',
  'Who looks after other tenants of this appliance.': 'Wer andere Mandanten dieser Appliance betreut.',
  'New tenant': 'Neuer Mandant',
  'Nothing of a tenant is seen by another one.': 'Von einem Mandanten sieht kein anderer etwas.',
  'Whom is it for?': 'Für wen ist er?',
  'The next page makes its root token, with which its first person signs in and sets it up.':
    'Die nächste Seite erzeugt sein Root-Token, mit dem sich die erste Person anmeldet und ihn einrichtet.',
  'Accounts of Microsoft 365 and Azure.': 'Konten von Microsoft 365 und Azure.',
  'Directory (tenant) ID': 'Verzeichnis-ID (Mandant)',
  'App registrations › New registration › platform Web. Then a client secret, and the groups claim in the ID token.':
    'App-Registrierungen › Neue Registrierung › Plattform Web. Danach ein geheimer Clientschlüssel und der groups-Claim im ID-Token.',
  'A realm of your own.': 'Ein eigener Realm.',
  Host: 'Host',
  Realm: 'Realm',
  'Clients › Create client, with client authentication. Then a Group Membership mapper that adds “groups” to the ID token.':
    'Clients › Create client, mit Client authentication. Danach ein Group Membership Mapper, der „groups“ in das ID-Token aufnimmt.',
  'Accounts of a Workspace domain.': 'Konten einer Workspace-Domain.',
  'APIs & Services › Credentials › OAuth client ID, of a web application. Google sends no groups: a role is named after your domain. For groups, write groups as the claim and fill in Google groups; the documentation says what that needs at Google.':
    'APIs & Services › Credentials › OAuth client ID, für eine Webanwendung. Google sendet keine Gruppen: Eine Rolle heißt wie Ihre Domain. Für Gruppen schreiben Sie groups als Claim und füllen Sie die Gruppen von Google aus; die Dokumentation sagt, was das bei Google braucht.',
  'An organization at Okta.': 'Eine Organisation bei Okta.',
  Domain: 'Domain',
  'Applications › Create App Integration › OIDC, Web Application. Then a groups claim with a filter under Sign On.':
    'Applications › Create App Integration › OIDC, Web Application. Danach ein groups-Claim mit einem Filter unter Sign On.',
  'Another provider': 'Ein anderer Anbieter',
  'Any that speaks OpenID Connect.': 'Jeder, der OpenID Connect spricht.',
  Issuer: 'Issuer',
  'Register a client of the kind that keeps a secret, with the redirect address below.':
    'Registrieren Sie einen Client, der ein Secret hat, mit der Redirect-Adresse unten.',
};
