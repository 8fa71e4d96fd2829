import { cancelImportByAdmin, listAllImports, restartImportByAdmin } from '#parts/imports/all-imports.ts'
import { importDeps } from '#parts/imports/availability.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { listOptions, type Subcommand, sliceOf, subcommand } from './subcommand.ts'
import { dateText, textTable } from './table.ts'

export const importCommands: Subcommand[] = [
  subcommand({
    name: 'imports list',
    summary: 'list source imports, those that run first',
    options: { active: { type: 'boolean', default: false, about: 'only those that run or wait' }, ...listOptions },
    async run({ options, open }) {
      const slice = sliceOf('imports list', options)
      const { db } = await open()
      const { rows, total } = await listAllImports(db, options, slice)
      const lines = rows.map((each) => [
        each.repository,
        each.requester,
        each.vcs,
        each.source,
        each.status,
        dateText(each.updated_at),
        each.message,
      ])
      const heading = ['REPOSITORY', 'BY', 'KIND', 'SOURCE', 'STATUS', 'UPDATED', 'MESSAGE']
      return { data: rows, text: textTable(heading, lines, total) }
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
