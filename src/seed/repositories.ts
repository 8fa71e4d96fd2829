import { noObject } from '#git/objects.ts'
import type { Commit } from '#git/storage.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import { followBranch } from '#hosting/pulls/following.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import { updateRepository } from '#hosting/repositories/update.ts'
import { setTeamAccess } from '#hosting/teams/teams.ts'
import { levelOf } from '#identity/access.ts'
import { addLabels, addMilestone, collaborate, fork, giveStar, watch } from './acting.ts'
import type { Seed, SeedOrganization } from './format.ts'
import type { Path } from './path.ts'
import type { SeedCommit, SeedRepository } from './repository-format.ts'
import type { SeedStage } from './seed-stage.ts'
import type { Thread, Timetable } from './timetable.ts'

/** Repositories with their settings, commits and tags. Forks come after the commits of their parents. Returns the thread of each. */
export function planRepositories(timetable: Timetable, { repositories = [], organizations = [] }: Seed): Thread[] {
  const threads = new Map<string, Thread>()
  const teams = findTeams(organizations)
  for (const [index, repository] of repositories.entries()) {
    const path = ['repositories', index]
    const by = actorFor(repository.name, organizations)
    const parent = threads.get(repository.fork_of?.toLowerCase() ?? '')
    const create = (stage: SeedStage) => createRepository(stage, by, repository, teams.get(repository.name.toLowerCase()) ?? [])
    const thread = timetable.begin(path, repository.at, create, parent?.at)
    threads.set(repository.name.toLowerCase(), thread)
    planDetails(timetable, thread, path, by, repository)
    planCommits(timetable, thread, path, by, repository)
    for (const [place, { name, branch, at }] of (repository.tags ?? []).entries())
      timetable.add(thread, [...path, 'tags', place], at, (stage) => createTag(stage, by, repository, name, branch))
    if (parent && thread.at && !(parent.at && parent.at >= thread.at)) parent.at = thread.at
  }
  return [...threads.values()]
}

/** The user who does what no one is named for: the owner, or the first owner of an organization. */
export function actorFor(full_name: string, organizations: SeedOrganization[]): string {
  const [owner = ''] = full_name.split('/')
  return organizations.find(({ login }) => login === owner)?.owners[0] ?? owner
}

async function createRepository(stage: SeedStage, by: string, wanted: SeedRepository, teams: GivenTeam[]) {
  const { name: full_name, fork_of, description, homepage, topics, default_branch } = wanted
  const [owner = '', name = ''] = full_name.split('/')
  const about = { ...(description && { description }), ...(homepage && { homepage }) }
  if (fork_of) await fork(stage, by, fork_of, owner, name)
  else {
    const options = { ...about, ...(wanted.private && { private: true }), ...(topics && { topics }) }
    await stage.createRepository(by, full_name, options)
  }
  stage.forgetAccess()
  if (!fork_of && default_branch && default_branch !== 'main') {
    const { actor, repo, viewer } = await stage.as(by, full_name)
    await stage.storage.pointHead(repo.id, default_branch)
    await stage.transaction((db) => updateRepository(db, viewer, actor, repo, { default_branch }))
    stage.forgetAccess()
  }
  await giveTeams(stage, by, full_name, teams)
}

/** Keys of teams with their access, by the repository in small letters. */
function findTeams(organizations: SeedOrganization[]) {
  const found = new Map<string, GivenTeam[]>()
  for (const { login, teams = [] } of organizations)
    for (const { name, repositories = [] } of teams)
      for (const { name: full_name, permission = 'pull' } of repositories)
        found.set(full_name.toLowerCase(), [
          ...(found.get(full_name.toLowerCase()) ?? []),
          { key: `${login}/${name}`, access: levelOf(permission) },
        ])
  return found
}

interface GivenTeam {
  key: string
  access: number
}

async function giveTeams(stage: SeedStage, by: string, full_name: string, given: GivenTeam[]) {
  for (const { key, access } of given) {
    const team = stage.teams.get(key)
    if (!team) continue
    const { actor, repo } = await stage.as(by, full_name)
    await stage.transaction((db) => setTeamAccess(db, actor, team, repo, access))
  }
  stage.forgetAccess()
}

function planDetails(timetable: Timetable, thread: Thread, path: Path, by: string, wanted: SeedRepository) {
  const { name, collaborators = [], labels = [], milestones = [], watchers = [], stargazers = [] } = wanted
  const add = (more: Path, run: (stage: SeedStage) => Promise<unknown>) =>
    timetable.add(thread, [...path, ...more], undefined, run)
  for (const [index, { login, permission = 'push' }] of collaborators.entries())
    add(['collaborators', index], (stage) => collaborate(stage, by, name, login, permission, 0))
  if (labels.length)
    add(['labels'], (stage) =>
      addLabels(
        stage,
        by,
        name,
        labels.map((label) => [label.name, label.color ?? 'ededed', label.description ?? '']),
      ),
    )
  for (const [index, { due_on, ...milestone }] of milestones.entries()) {
    const due = timetable.read([...path, 'milestones', index, 'due_on'], due_on)
    add(['milestones', index], (stage) =>
      addMilestone(stage, by, name, milestoneKey(name, milestone.title), { ...milestone, ...(due && { due_on: due }) }),
    )
  }
  for (const [index, login] of watchers.entries()) add(['watchers', index], (stage) => watch(stage, login, name))
  for (const [index, login] of stargazers.entries()) add(['stargazers', index], (stage) => giveStar(stage, login, name))
}

export const milestoneKey = (full_name: string, title: string) => `${full_name} milestone ${title}`

/** A push for each run of commits with the same branch and author. */
function planCommits(timetable: Timetable, thread: Thread, path: Path, by: string, wanted: SeedRepository) {
  const { default_branch = 'main', files, commits = [] } = wanted
  let run: PlannedPush | undefined
  const push = (path: Path, at: string | undefined, { author = by, branch = default_branch, ...commit }: SeedCommit) => {
    const joins = run?.author === author && run.branch === branch
    const pushed: PlannedPush = run && joins ? run : { author, branch, from: commit.from ?? default_branch, commits: [] }
    // The push happens with its last commit, and the steps of the others do nothing.
    const place = pushed.commits.length
    const time = timetable.add(thread, path, at, async (stage) => {
      if (place === pushed.commits.length - 1) await pushCommits(stage, by, wanted.name, pushed)
    })
    pushed.commits.push({ ...commit, time })
    run = pushed
  }
  if (files) push([...path, 'files'], undefined, { message: 'Initial commit', files })
  for (const [index, commit] of commits.entries()) push([...path, 'commits', index], commit.at, commit)
}

interface PlannedPush {
  author: string
  branch: string
  /** Where the branch begins, if it is new. */
  from: string
  commits: (Pick<SeedCommit, 'message' | 'files'> & { time: Date })[]
}

/** Pushed by the author, or by the owner if the author has no push access or no account. */
async function pushCommits(stage: SeedStage, by: string, full_name: string, { author, branch, from, commits }: PlannedPush) {
  const { storage, db } = stage
  const named = /^([^<]+) <([^<>]+)>$/.exec(author)
  const writer = named ? { name: named[1] ?? '', email: named[2] ?? '' } : authorOf(stage.account(author))
  const owner = await stage.as(by, full_name)
  const own = named ? owner : await stage.as(author, full_name)
  const { actor, repo } = mayPush(own.repo) ? own : owner
  const [ref, origin] = [`refs/heads/${branch}`, `refs/heads/${from}`]
  const refs = await storage.refsOf(repo.id, [ref, origin])
  const drafts: Commit[] = commits.map(({ message, files, time }) => {
    return { author: writer, at: time, message: `${message.trimEnd()}\n`, files }
  })
  const after = await storage.draft(repo.id, refs.get(ref) ?? refs.get(origin), drafts)
  const before = refs.get(ref) ?? noObject
  await pushRefs(db, storage, repo, actor, [{ ref, before, after }])
  await followBranch(db, storage, { repo_id: repo.id, branch, before, after, pusher_id: actor.id })
}

async function createTag(
  stage: SeedStage,
  by: string,
  { name: full_name, default_branch = 'main' }: SeedRepository,
  tag: string,
  branch = default_branch,
) {
  const { actor, repo } = await stage.as(by, full_name)
  const ref = `refs/heads/${branch}`
  const sha = (await stage.storage.refsOf(repo.id, [ref])).get(ref) ?? noObject
  await pushRefs(stage.db, stage.storage, repo, actor, [{ ref: `refs/tags/${tag}`, before: noObject, after: sha }])
}
