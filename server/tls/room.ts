export { acceptTls } from './accept-tls.ts';
export { type Certificates, openCertificates } from './certificates.ts';
export { createMachineHosts, hostsOfCertificate } from './machine-hosts.ts';
export { createReach, describeCa } from './reach.ts';
