import type { DeliveredCommit, Facts } from '#activity/facts.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type PayloadContext, unaddressed as wire } from './payload-context.ts'
import { deliveredRepositoryJson } from './repository-payload.ts'

export function pushPayload({ delivery }: Partial<Facts>, { repo, sender }: PayloadContext) {
  if (!delivery) return undefined
  const { commits, head_commit, ...push } = delivery
  const page = `${wire.web}/${repo.owner_login}/${repo.name}`
  const commit = (listed: DeliveredCommit) => ({ ...listed, url: `${page}/commit/${listed.id}` })
  const [before, after] = [push.before.slice(0, 12), push.after.slice(0, 12)]
  return {
    ...push,
    compare: `${page}/${push.created || push.deleted ? `commit/${push.deleted ? before : after}` : `compare/${before}...${after}`}`,
    commits: commits.map(commit),
    head_commit: head_commit && commit(head_commit),
    // The email address of an account is not for receivers.
    pusher: { name: sender.login, email: null },
  }
}

export function createPayload({ ref, ref_type }: Partial<Facts>, { repo }: PayloadContext) {
  return { ref, ref_type, master_branch: repo.default_branch, description: repo.description, pusher_type: 'user' }
}

export function deletePayload({ ref, ref_type }: Partial<Facts>) {
  return { ref, ref_type, pusher_type: 'user' }
}

/** The repository in a push is older than the rest of the interface: times are numbers, `url` is the page, and the owner has a name. */
export function pushRepository(repo: Repository, owner: Pick<Account, 'type' | 'login' | 'email'>) {
  const usual = deliveredRepositoryJson(repo)
  return {
    ...usual,
    owner: { name: owner.login, email: owner.type === 'Organization' ? owner.email : null, ...usual.owner },
    url: usual.html_url,
    created_at: seconds(repo.created_at),
    pushed_at: repo.pushed_at && seconds(repo.pushed_at),
    stargazers: repo.stargazers_count,
    master_branch: repo.default_branch,
  }
}

const seconds = (moment: Date) => Math.floor(moment.getTime() / 1000)
