import { isRefName, isReserved } from '#git/ref-names.ts'
import { fillDefaultBranches } from './default-branch.ts'
import type { Seed } from './format.ts'
import type { Path } from './path.ts'
import type { References } from './reference-check.ts'
import type { SeedCommit, SeedIssue, SeedPullRequest, SeedRepository } from './repository-format.ts'

/** What the repositories of a seed refer to. */
export function checkRepositories(references: References, { repositories = [] }: Seed) {
  references.unique(
    ['repositories'],
    repositories.map(({ name }) => name),
    'name',
  )
  const owners = new Set([...references.users, ...references.organizations])
  const branches = new Map<string, Set<string>>()
  const filled = fillDefaultBranches(repositories)
  for (const [index, repository] of repositories.entries()) {
    const path = ['repositories', index]
    const [owner = ''] = repository.name.split('/')
    references.find([...path, 'name'], owner, 'user or organization', owners)
    checkFork(references, path, repository, branches)
    branches.set(repository.name, checkCommits(references, path, filled[index] ?? repository, branches))
    checkDetails(references, path, repository)
  }
  for (const [index, repository] of filled.entries())
    checkConversations(references, ['repositories', index], repository, branches)
}

function checkFork(
  references: References,
  path: Path,
  { name, fork_of, ...rest }: SeedRepository,
  above: ReadonlyMap<string, unknown>,
) {
  if (fork_of === undefined) return
  if (references.repositories.has(fork_of) && !above.has(fork_of))
    references.report([...path, 'fork_of'], `"${fork_of}" must be further up in the seed`)
  else references.repository([...path, 'fork_of'], fork_of)
  if (fork_of.split('/')[0] === name.split('/')[0])
    references.report([...path, 'fork_of'], 'a repository cannot be forked into the account that owns it')
  for (const key of ['files', 'private', 'default_branch', 'description', 'homepage', 'topics'] as const)
    if (rest[key] !== undefined) references.report([...path, key], 'a fork has this from its parent')
}

/** Returns the branches that the repository has after its commits. */
function checkCommits(references: References, path: Path, repository: SeedRepository, all: Map<string, Set<string>>) {
  const { files, commits = [], tags = [], fork_of = '', default_branch = 'main' } = repository
  const known = new Set(all.get(fork_of))
  if (default_branch !== undefined) checkRef(references, [...path, 'default_branch'], `refs/heads/${default_branch}`)
  if (files) checkFiles(references, [...path, 'files'], files)
  if (files) known.add(default_branch)
  for (const [index, commit] of commits.entries())
    checkCommit(references, [...path, 'commits', index], commit, default_branch, known)
  checkNesting(references, [...path, 'commits'], [...known])
  checkNesting(
    references,
    [...path, 'tags'],
    tags.map(({ name }) => name),
  )
  references.unique(
    [...path, 'tags'],
    tags.map(({ name }) => name),
    'name',
  )
  for (const [index, { name, branch = default_branch }] of tags.entries()) {
    checkRef(references, [...path, 'tags', index, 'name'], `refs/tags/${name}`)
    references.find([...path, 'tags', index, 'branch'], branch, 'branch', known)
  }
  for (const [index, { branch }] of (repository.protected_branches ?? []).entries())
    references.find([...path, 'protected_branches', index, 'branch'], branch, 'branch', known)
  return known
}

function checkCommit(references: References, path: Path, commit: SeedCommit, default_branch: string, known: Set<string>) {
  const { author, branch = default_branch, from = default_branch, files } = commit
  if (author?.includes('<')) {
    if (!/^[^<>\n]+ <[^<>\s]+>$/.test(author)) references.report([...path, 'author'], 'must be a login, or Name <address>')
  } else references.user([...path, 'author'], author)
  checkRef(references, [...path, 'branch'], `refs/heads/${branch}`)
  // The first commit of a repository begins its branch.
  if (!known.has(branch) && known.size) references.find([...path, 'from'], from, 'branch', known)
  known.add(branch)
  checkFiles(references, [...path, 'files'], files)
}

function checkRef(references: References, path: Path, name: string) {
  if (!isRefName(name)) references.report(path, 'is not a name that git accepts')
  else if (isReserved(name)) references.report(path, 'begins with refs/, is HEAD, or looks like the id of an object')
}

/** Git cannot have both `fix` and `fix/leak`: one is a file, the other a folder. */
function checkNesting(references: References, path: Path, names: string[]) {
  const all = new Set(names)
  for (const name of names) {
    const outer = name.split('/').map((_, index, parts) => parts.slice(0, index).join('/'))
    const found = outer.find((each) => all.has(each))
    if (found) references.report(path, `git cannot have both "${found}" and "${name}"`)
  }
}

function checkFiles(references: References, path: Path, files: Record<string, string | null>) {
  for (const name of Object.keys(files)) {
    const parts = name.split('/')
    const wrong = name.length > 1000 || /\p{Cc}/u.test(name) || !name.isWellFormed()
    if (wrong || parts.some((part) => ['', '.', '..', '.git'].includes(part.toLowerCase())))
      references.report([...path, name], 'is not a path that git accepts: relative, without empty parts, ".." and ".git"')
  }
}

function checkDetails(references: References, path: Path, repository: SeedRepository) {
  const { collaborators = [], labels = [], milestones = [], stargazers, watchers, hooks } = repository
  const [owner] = repository.name.split('/')
  references.unique(
    [...path, 'collaborators'],
    collaborators.map(({ login }) => login),
    'login',
  )
  for (const [index, { login }] of collaborators.entries()) {
    const at = [...path, 'collaborators', index, 'login']
    references.user(at, login)
    if (login === owner) references.report(at, 'the owner cannot be a collaborator')
  }
  references.unique(
    [...path, 'labels'],
    labels.map(({ name }) => name),
    'name',
  )
  references.unique(
    [...path, 'milestones'],
    milestones.map(({ title }) => title),
    'title',
  )
  references.usersOf([...path, 'stargazers'], stargazers)
  references.usersOf([...path, 'watchers'], watchers)
  references.hooks([...path, 'hooks'], hooks, 'repository')
}

function checkConversations(references: References, path: Path, repository: SeedRepository, all: Map<string, Set<string>>) {
  const { issues = [], pull_requests = [], releases = [] } = repository
  const names = new Set(repository.labels?.map(({ name }) => name))
  const titles = new Set(repository.milestones?.map(({ title }) => title))
  const check = (at: Path, item: SeedIssue | SeedPullRequest) => {
    references.user([...at, 'author'], item.author)
    references.user([...at, 'closed_by'], item.closed_by)
    references.usersOf([...at, 'assignees'], item.assignees)
    for (const [index, label] of (item.labels ?? []).entries())
      references.find([...at, 'labels', index], label, `label of ${repository.name}`, names)
    references.find([...at, 'milestone'], item.milestone, `milestone of ${repository.name}`, titles)
    for (const [index, { author }] of (item.comments ?? []).entries())
      references.user([...at, 'comments', index, 'author'], author)
    for (const key of ['closed_by', 'closed_at', 'state_reason', 'merge_method'] as const) {
      const given = (item as SeedIssue & SeedPullRequest)[key] !== undefined
      const needed = key === 'merge_method' ? ['merged'] : ['closed', 'merged']
      const { state = 'open' } = item
      if (given && ['open', 'closed', 'merged'].includes(state) && !needed.includes(state))
        references.report([...at, key], `needs "state: ${needed.join('" or "state: ')}"`)
    }
  }
  if (issues.length && repository.fork_of !== undefined) references.report([...path, 'issues'], 'a fork has no issues')
  for (const [index, issue] of issues.entries()) check([...path, 'issues', index], issue)
  for (const [index, pull] of pull_requests.entries()) {
    const at = [...path, 'pull_requests', index]
    check(at, pull)
    checkPull(references, at, pull, repository, all)
  }
  references.unique(
    [...path, 'releases'],
    releases.map(({ tag_name }) => tag_name),
    'tag_name',
  )
  for (const [index, { author }] of releases.entries()) references.user([...path, 'releases', index, 'author'], author)
}

/** `owner:branch` of all repositories. */
const ownedBranches = (all: Map<string, Set<string>>) =>
  new Set([...all].flatMap(([name, branches]) => [...branches].map((branch) => `${name.split('/')[0]}:${branch}`)))

function checkPull(
  references: References,
  path: Path,
  pull: SeedPullRequest,
  { name, default_branch = 'main' }: SeedRepository,
  all: Map<string, Set<string>>,
) {
  const own = all.get(name) ?? new Set()
  const { author = '', head, base = default_branch, reviewers = [], reviews = [] } = pull
  references.find([...path, 'base'], base, `branch of ${name}`, own)
  const [, owner, branch = head] = /^([^:]+):(.+)$/.exec(head) ?? []
  if (!owner) references.find([...path, 'head'], head, `branch of ${name}`, own)
  else references.find([...path, 'head'], head, 'branch', ownedBranches(all))
  if (!owner && branch === base) references.report([...path, 'head'], 'must not be the base')
  references.usersOf([...path, 'reviewers'], reviewers)
  if (reviewers.includes(author))
    references.report([...path, 'reviewers', reviewers.indexOf(author)], 'an author is not asked for a review')
  for (const [index, review] of reviews.entries()) {
    const at = [...path, 'reviews', index]
    references.user([...at, 'author'], review.author)
    if (review.author === author && review.state !== 'commented')
      references.report([...at, 'state'], 'an author can only comment on their own pull request')
    if (review.state !== 'approved' && !review.body && !review.comments?.length)
      references.report(at, 'a review without a body or comments must approve')
  }
}
