// Makes package-lock.json the same for everybody: no registry's host in it, and an entry for each platform's binaries, also those
// that the registry at hand does not have. `npm run lock` after a change of dependencies; `npm ci` needs it.
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('package-lock.json', import.meta.url);
const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
for (const one of Object.values(lock.packages)) delete one.resolved;
for (const one of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(one.optionalDependencies ?? {})) {
    const parts = name.split('/').at(-1).split('-');
    const os = OS.filter((word) => parts.includes(word));
    const cpu = CPU.filter((word) => parts.some((part) => part === word || (word === 'arm' && part === 'arm') || (word === 'arm64' && part === 'aarch64')));
    const key = `node_modules/${name}`;
    // Binaries of one exact version only: anything else is npm's own business.
    if (key in lock.packages || os.length === 0 || !/^\d/.test(version)) continue;
    lock.packages[key] = { version, ...(one.dev ? { dev: true } : {}), ...(cpu.length ? { cpu } : {}), optional: true, os };
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(sorted);
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
