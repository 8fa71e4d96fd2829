import { unaddressed as wire } from '#activity/outbox/addresses.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Person } from '#identity/accounts.ts'
import type { CommitNews, PushNews } from './news.ts'
import { toldRepositoryJson } from './repository-payload.ts'

export function pushFields({ commits, head_commit, ...push }: PushNews, repo: Repository, pusher: Person) {
  const place = `${wire.web}/${repo.owner_login}/${repo.name}`
  const commit = (told: CommitNews) => ({ ...told, url: `${place}/commit/${told.id}` })
  const [before, after] = [push.before.slice(0, 12), push.after.slice(0, 12)]
  return {
    ...push,
    compare: `${place}/${push.created || push.deleted ? `commit/${push.deleted ? before : after}` : `compare/${before}...${after}`}`,
    commits: commits.map(commit),
    head_commit: head_commit && commit(head_commit),
    // An address given to sign up with is not for receivers.
    pusher: { name: pusher.login, email: null },
  }
}

/** Older than the rest of the interface, and different: moments are numbers, `url` is the page, and the owner has a name. */
export function pushRepository(repo: Repository, owner: Pick<Account, 'type' | 'login' | 'email'>) {
  const usual = toldRepositoryJson(repo)
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
