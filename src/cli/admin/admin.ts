import { type Command, UsageError } from '#cli/command.ts'
import { auditCommands } from './audit.ts'
import { jobCommands } from './background-jobs.ts'
import { backupCommands } from './backup/commands.ts'
import { doctorCommands } from './doctor.ts'
import { hookCommands } from './hooks.ts'
import { importCommands } from './imports.ts'
import { keyCommands } from './keys.ts'
import { maintenanceCommands } from './maintenance.ts'
import { orgCommands } from './orgs.ts'
import type { Subcommand } from './subcommand.ts'
import { teamCommands } from './teams.ts'
import { tokenCommands } from './tokens.ts'
import { userCommands } from './users.ts'
import { usersFromFile } from './users-file.ts'

/** In the order of `npx belfry admin --help`. */
export const subcommands: Subcommand[] = [
  ...userCommands,
  usersFromFile,
  ...tokenCommands,
  ...orgCommands,
  ...teamCommands,
  ...importCommands,
  ...hookCommands,
  ...jobCommands,
  ...auditCommands,
  ...doctorCommands,
  ...backupCommands,
  ...maintenanceCommands,
  ...keyCommands,
]

const map = (shown: Subcommand[]) => {
  const column = Math.max(...shown.map(({ usage }) => usage.length)) + 3
  return shown.map(({ usage, summary }) => `  ${usage.padEnd(column)}${summary}`).join('\n')
}

const describe = (shown: Subcommand[]) => `Administers a Belfry from its machine, also while its server runs.

Usage: npx belfry admin <command> [options]   --help after a command describes it

Commands:
${map(shown)}

Settings are read from the environment, as the server reads them. With DATABASE_URL, commands use that PostgreSQL server; otherwise the
embedded one in BELFRY_DATA, which they start if no server runs. Run them as the account that runs Belfry. Every act is in the audit log.`

export const command: Command = {
  help: describe(subcommands),
  async run(given, terminal) {
    const named = subcommands.find(({ name }) => name === given.slice(0, name.split(' ').length).join(' '))
    if (named) {
      const rest = given.slice(named.name.split(' ').length)
      if (!rest.includes('--help')) return named.run(rest, terminal)
      terminal.print(named.help)
      return 0
    }
    const [noun] = given
    const below = subcommands.filter(({ name }) => name.split(' ')[0] === noun)
    if (below.length && (given.length === 1 || given[1] === '--help')) {
      terminal.print(describe(below))
      return given.length === 1 ? 2 : 0
    }
    throw new UsageError(noun === undefined ? 'A command is missing' : `"${given.join(' ')}" is no command`, 'admin')
  },
}
