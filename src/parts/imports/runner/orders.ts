import { lfsRoot } from '#git/lfs-store.ts'
import { ImportFailure } from '#importer/source.ts'
import type { Order } from '#importer/steps.ts'
import { takeCorrections } from '#parts/imports/authors.ts'
import { openCredentials } from '#parts/imports/credentials.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { sql } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'
import type { RunnerDeps } from './deps.ts'

/** The order for the next step of an import. `found` is whether detection succeeded in this run. */
export async function buildOrder(deps: RunnerDeps, imported: Import, folder: string, found: boolean): Promise<Order> {
  const common = await commonOrder(deps, imported, folder)
  const { id, run, status, vcs, use_lfs, verify_all, repo_id } = imported
  const target = deps.storage.pathOf(repo_id)
  const corrections = () => deps.db.transaction((transaction) => takeCorrections(transaction, { id, run }))
  if (status === 'complete') return { ...common, step: 'correct', target, authors: await corrections() }
  // A kind that the user named is checked too.
  if (!vcs || status === 'detecting' || (status === 'importing' && !found)) return { ...common, step: 'detect', vcs }
  if (status === 'importing') return { ...common, step: 'import', vcs }
  if (status === 'mapping') return { ...common, step: 'map', vcs, use_lfs, verify_all, authors: await corrections() }
  return { ...common, step: 'push', vcs, target }
}

async function commonOrder({ db, vault, data, addresses, certificates }: RunnerDeps, imported: Import, folder: string) {
  const { repo_id, vcs_url, svn_root, svn_ignore, tfvc_project } = imported
  const repo = await db.first<{ default_branch: string }>(sql`select default_branch from repositories where id = ${repo_id}`)
  if (!repo) throw new ImportFailure('The repository was deleted.')
  const origin = { url: vcs_url, ...readCredentials(vault, imported), svn_root, svn_ignore, tfvc_project }
  return { origin, folder, default_branch: repo.default_branch, addresses, certificates, lfs_store: lfsRoot(data) }
}

function readCredentials(vault: Vault, imported: Import) {
  try {
    return openCredentials(vault, imported)
  } catch {
    // The key that sealed them was replaced.
    throw new ImportFailure('The user name and password can no longer be decrypted. Send them again.', 'auth')
  }
}
