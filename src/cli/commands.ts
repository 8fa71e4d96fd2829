import type { Command } from './command.ts'

interface Entry {
  name: string
  /** The line of `npx belfry --help`. */
  summary: string
  /** Loaded on demand, because a server should not hold the code of other commands. */
  load(): Promise<Command>
}

/** The commands in the order of `npx belfry --help`. Without a command, `npx belfry` starts the server. */
export const commands: Entry[] = [
  {
    name: 'listen',
    summary: "receive a webhook's deliveries on this machine",
    load: async () => (await import('./listen.ts')).command,
  },
  {
    name: 'admin',
    summary: 'administer a server from its machine: users, tokens, backups, checks and more',
    load: async () => (await import('./admin/admin.ts')).command,
  },
  {
    name: 'convert',
    summary: 'convert a Subversion, Mercurial, TFVC or git repository to git',
    load: async () => (await import('./convert.ts')).command,
  },
  {
    name: 'conformance',
    summary: 'check that a server behaves as the specification of the API says',
    load: async () => (await import('./conformance.ts')).command,
  },
  {
    name: 'test-server',
    summary: 'start a server for automated tests that can be reset, seeded and made to fail',
    load: async () => (await import('./test-server.ts')).command,
  },
]

const column = Math.max(...commands.map(({ name }) => name.length)) + 3

export const describeCommands = () => commands.map(({ name, summary }) => `  ${name.padEnd(column)}${summary}`).join('\n')
