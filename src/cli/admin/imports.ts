import { cancelImportByAdmin, listAllImports, restartImportByAdmin } from '#parts/imports/all-imports.ts'
import { importDeps } from '#parts/imports/availability.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'

export const importCommands: Subcommand[] = [
  listCommand({
    name: 'imports list',
    summary: 'list source imports, those that run first',
    options: { active: { type: 'boolean', default: false, about: 'only those that run or wait' } },
    list:
      (options) =>
      ({ db }, slice) =>
        listAllImports(db, options, slice),
    columns: {
      REPOSITORY: ({ repository }) => repository,
      BY: ({ requester }) => requester,
      KIND: ({ vcs }) => vcs,
      SOURCE: ({ source }) => source,
      STATUS: ({ status }) => status,
      UPDATED: ({ updated_at }) => dateText(updated_at),
      MESSAGE: ({ message }) => message,
    },
  }),
  subcommand({
    name: 'imports cancel',
    arguments: 'OWNER/NAME',
    summary: 'cancel the import of a repository; what it published stays',
    dangerous: ([name]) => `This cancels the import of ${name} and deletes its work in progress.`,
    async run({ given: [name = ''], open }) {
      const { db, operator } = await open()
      await orMissing(
        name,
        db.transaction((transaction) => cancelImportByAdmin(transaction, operator, name)),
      )
      return { data: { repository: name, cancelled: true }, text: `The import of ${name} is cancelled.` }
    },
  }),
  subcommand({
    name: 'imports restart',
    arguments: 'OWNER/NAME',
    summary: 'run the import of a repository again, with its stored credentials',
    async run({ given: [name = ''], open }) {
      const { db, operator, vault, storage, settings } = await open()
      const deps = importDeps({ vault, storage, settings })
      const started = await orMissing(
        name,
        db.transaction((transaction) => restartImportByAdmin(transaction, operator, deps, name)),
      )
      return { data: { repository: name, status: started.status }, text: `The import of ${name} runs again: ${started.status}.` }
    },
  }),
]

const orMissing = <T>(name: string, work: Promise<T>) =>
  work.catch((error) => {
    throw error instanceof Refusal && error.reason === 'missing' ? new StartError(`There is no import of "${name}".`) : error
  })
