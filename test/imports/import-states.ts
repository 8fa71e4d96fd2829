import type { Verification } from '#importer/source.ts'
import { loadImport } from '#parts/imports/import-store.ts'
import { applyEvent, type Outcome } from '#parts/imports/progress.ts'
import type { RunEvent } from '#parts/imports/states.ts'
import { expect, type Forge, openForge, type Person } from '#test/forge.ts'

export const path = '/repos/ada/engine/import'
export const vcs_url = 'https://source.example/engine'
export const page = '/ada/engine/import'

/** Authors as a Subversion repository names them. */
export const authorsNamed = (uuid: string, ...logins: string[]) =>
  logins.map((login) => ({ remote_id: `${login}@${uuid}`, remote_name: login, name: login, email: `${login}@${uuid}` }))
export const people = authorsNamed('4f1c', 'bob', 'eve')

/** An empty repository of Ada, without a runner: the test applies the events of each step. */
export async function openEmpty(settings: Record<string, string> = {}) {
  const forge = await openForge({ settings })
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine')
  return Object.assign(forge, { ada, repo: { id: id as number } })
}

export type Empty = Awaited<ReturnType<typeof openEmpty>>

export const present = ({ belfry: { db }, repo }: Forge & { repo: { id: number } }) => loadImport(db, repo)

/** Starts an import as Ada. */
export const start = async (person: Person, body: Record<string, unknown> = {}) =>
  expect(201, await person.put(path, { vcs_url, ...body }))

/** Applies an event for the current run. */
export async function applyRunEvent(forge: Empty, event: RunEvent, outcome: Outcome = {}) {
  const { id, run } = await present(forge)
  return forge.belfry.db.transaction((db) => applyEvent(db, id, run, event, outcome))
}

export const verification: Verification = { branches: 1, tags: 1, revisions: 3, files: 7, mismatches: [] }
export const report = { default_branch: 'trunk', notes: { 'empty folders': 2 }, verification }

/** Leads an import of a known kind to a state. */
export async function leadTo(forge: Empty, state: 'mapping' | 'pushing') {
  await applyRunEvent(forge, 'imported', { commit_count: 3, large_files: [] })
  if (state === 'pushing') await applyRunEvent(forge, 'mapped', { report })
}
