import type { Push } from '#activity/facts.ts'
import { noObject } from '#git/objects.ts'
import { encodePath } from '#http/serialization.ts'
import type { EventRecord } from './records.ts'
import type { TimelineEvent } from './timelines.ts'

export interface Link {
  name: string
  href: string
}

/** What happened, without its subject, which is the actor. Feeds and pages render it, each in their own markup. */
export interface Sentence {
  words: (string | Link)[]
  /** The page that shows the event best. */
  link: string
  /** The commits of a push, newest first, and how many others it has. */
  commits?: { sha: string; href: string; message: string }[]
  other_commits?: number
  /** The title of the issue, pull request or release, or the description of a new repository. */
  title?: string | null
  /** The start of what the actor wrote, as Markdown. */
  text?: string | undefined
}

/** One sentence about several events that `groupEvents` put together, newest first. Links start with `web`. */
export function sentenceOf(group: readonly [EventRecord, ...EventRecord[]], web: string): Sentence {
  const [newest] = group
  const sentence = describe(newest, web)
  if (group.length === 1) return sentence
  const { event } = newest
  const repo = repositoryOf(newest, web)
  switch (event.type) {
    case 'PushEvent':
      return describePush(joinPushes(group), repo)
    case 'WatchEvent':
      return { ...sentence, words: ['starred ', ...listed(unique(group.map((one) => repositoryOf(one, web))))] }
    case 'ForkEvent':
      return { words: ['forked ', repo], link: repo.href }
    case 'CreateEvent':
    case 'DeleteEvent':
      return describeRefs(group, repo, event.type === 'CreateEvent')
    case 'IssuesEvent':
    case 'PullRequestEvent': {
      const subject = subjectOf(newest, repo)
      const names = unique(group.map(({ label }) => ({ name: label?.name ?? 'a label', href: subject.href })))
      const labels = `the labels ${listed(names.map(({ name }) => name)).join('')}`
      const words = event.payload.action === 'labeled' ? `added ${labels} to ` : `removed ${labels} from `
      return { ...sentence, words: [`${words}${subject.kind} `, subject, ' in ', repo] }
    }
    default:
      return sentence
  }
}

function describe(record: EventRecord, web: string): Sentence {
  const { event, forkee, member, release, comment, review, review_comment, commit_comment } = record
  const repo = repositoryOf(record, web)
  switch (event.type) {
    case 'PushEvent':
      return describePush(event.payload, repo)
    case 'CreateEvent': {
      const { ref, ref_type, description } = event.payload
      if (ref === null) return { words: ['created a repository ', repo], link: repo.href, title: description }
      const made = refOf(repo, ref)
      return { words: [`created a ${ref_type} `, made, ' in ', repo], link: made.href }
    }
    case 'DeleteEvent':
      return { words: [`deleted a ${event.payload.ref_type} ${event.payload.ref} in `, repo], link: repo.href }
    case 'ForkEvent': {
      if (!forkee) return { words: ['forked ', repo], link: repo.href }
      const fork = repositoryLink(web, forkee.owner_login, forkee.name)
      return { words: ['forked ', repo, ' to ', fork], link: fork.href }
    }
    case 'WatchEvent':
      return { words: ['starred ', repo], link: repo.href }
    case 'PublicEvent':
      return { words: ['made ', repo, ' public'], link: repo.href }
    case 'MemberEvent':
      return { words: ['added ', personLink(member, web), ' to ', repo], link: repo.href }
    case 'ReleaseEvent': {
      if (!release) return { words: ['published a release in ', repo], link: repo.href }
      const page = { name: release.tag_name, href: `${repo.href}/releases/tag/${encodePath(release.tag_name)}` }
      return { words: ['published release ', page, ' in ', repo], link: page.href, title: release.name }
    }
    case 'IssuesEvent':
    case 'PullRequestEvent':
      return describeChange(event.payload, record, repo, web)
    case 'IssueCommentEvent': {
      const subject = subjectOf(record, repo)
      return onSubject(`commented on ${subject.kind} `, subject, `issuecomment-${event.payload.comment_id}`, repo, comment?.body)
    }
    case 'PullRequestReviewEvent': {
      const words = `${verdicts[review?.state ?? ''] ?? 'reviewed'} pull request `
      return onSubject(words, subjectOf(record, repo), `pullrequestreview-${event.payload.review_id}`, repo, review?.body)
    }
    case 'PullRequestReviewCommentEvent': {
      const words = `commented on ${review_comment?.path ?? 'a file'} in pull request `
      const anchor = `discussion_r${event.payload.review_comment_id}`
      return onSubject(words, subjectOf(record, repo), anchor, repo, review_comment?.body)
    }
    case 'CommitCommentEvent': {
      if (!commit_comment) return { words: ['commented on a commit in ', repo], link: repo.href }
      const link = `${repo.href}/commit/${commit_comment.commit_id}#commitcomment-${commit_comment.id}`
      const commit = { name: commit_comment.commit_id.slice(0, 7), href: link }
      return { words: ['commented on commit ', commit, ' in ', repo], link, text: excerpt(commit_comment.body) }
    }
  }
}

/** A comment on an issue or a pull request, or a review. */
function onSubject(words: string, subject: Subject, anchor: string, repo: Link, body: string | undefined): Sentence {
  const link = `${subject.href}#${anchor}`
  return { words: [words, { ...subject, href: link }, ' in ', repo], link, title: subject.title, text: excerpt(body) }
}

const verdicts: Record<string, string> = { APPROVED: 'approved', CHANGES_REQUESTED: 'asked for changes to' }

const repositoryOf = ({ event }: EventRecord, web: string) => repositoryLink(web, event.owner_login, event.repo_name)

function repositoryLink(web: string, owner: string, name: string): Link {
  return { name: `${owner}/${name}`, href: `${web}/${owner}/${name}` }
}

function personLink({ login }: { login: string } = { login: 'someone' }, web: string): Link {
  return { name: login, href: `${web}/${login}` }
}

function describePush({ ref, before, head, size, commits }: Push, repo: Link): Sentence {
  const branch = refOf(repo, ref.replace(/^refs\/(heads|tags)\//, ''))
  const counted = size > 0 ? `${size} ${size === 1 ? 'commit' : 'commits'} ` : ''
  return {
    words: [`pushed ${counted}to `, branch, ' in ', repo],
    link: before === noObject ? branch.href : `${repo.href}/compare/${before.slice(0, 10)}...${head.slice(0, 10)}`,
    // The event has the last commits, oldest first.
    commits: commits.toReversed().map(({ sha, message }) => ({
      sha,
      href: `${repo.href}/commit/${sha}`,
      message: message.trimStart().split(/[\r\n]/, 1)[0] ?? '',
    })),
    other_commits: Math.max(0, size - commits.length),
  }
}

/** The pushes of a group as one, from the first commit to the last. */
function joinPushes(group: readonly EventRecord[]): Push {
  const pushes = group.flatMap(({ event }) => (event.type === 'PushEvent' ? [event.payload] : [])).toReversed()
  const [first, last] = [pushes[0], pushes.at(-1)]
  if (!first || !last) throw new Error('a group of pushes has none')
  const size = pushes.reduce((sum, push) => sum + push.size, 0)
  return { ...last, before: first.before, size, commits: pushes.flatMap(({ commits }) => commits) }
}

/** Branches and tags that one person created or deleted in a repository. */
function describeRefs(group: readonly EventRecord[], repo: Link, created: boolean): Sentence {
  const payloads = group.flatMap(({ event }) =>
    event.type === 'CreateEvent' || event.type === 'DeleteEvent' ? event.payload : [],
  )
  const kind = payloads[0]?.ref_type === 'tag' ? 'tags' : 'branches'
  const names = payloads.flatMap(({ ref }) => ref ?? [])
  const words = created ? listed(names.map((name) => refOf(repo, name))) : listed(names)
  return { words: [`${created ? 'created' : 'deleted'} ${names.length} ${kind}: `, ...words, ' in ', repo], link: repo.href }
}

/** A change of an issue or a pull request: opened, closed, reopened, assigned or labeled. */
function describeChange(
  payload: (TimelineEvent & { type: 'IssuesEvent' | 'PullRequestEvent' })['payload'],
  record: EventRecord,
  repo: Link,
  web: string,
): Sentence {
  const subject = subjectOf(record, repo)
  const { kind } = subject
  const described = { link: subject.href, title: subject.title }
  const assignee = personLink(record.assignee, web)
  switch (payload.action) {
    case 'assigned':
      return { ...described, words: ['assigned ', assignee, ` to ${kind} `, subject, ' in ', repo] }
    case 'unassigned':
      return { ...described, words: ['took ', assignee, ` off ${kind} `, subject, ' in ', repo] }
    case 'labeled':
    case 'unlabeled': {
      const label = record.label ? `the label ${record.label.name}` : 'a label'
      const words = payload.action === 'labeled' ? `added ${label} to ${kind} ` : `removed ${label} from ${kind} `
      return { ...described, words: [words, subject, ' in ', repo] }
    }
    default:
      return { ...described, words: [`${'merged' in payload ? 'merged' : payload.action} ${kind} `, subject, ' in ', repo] }
  }
}

type Subject = Link & { kind: string; title: string | null }

/** The issue or pull request of an event. */
function subjectOf({ event, issue, pull }: EventRecord, repo: Link): Subject {
  const is_pull = pull !== undefined || (issue ? issue.pull_id !== null : event.type.startsWith('PullRequest'))
  const [kind, folder] = is_pull ? ['pull request', 'pull'] : ['issue', 'issues']
  const found = pull ?? issue
  if (!found) return { kind, name: 'that is gone', href: repo.href, title: null }
  return { kind, name: `#${found.number}`, href: `${repo.href}/${folder}/${found.number}`, title: found.title }
}

/** A branch or a tag. Its name may contain half a surrogate pair, which `encodeURIComponent` refuses. */
const refOf = (repo: Link, name: string): Link => ({ name, href: `${repo.href}/tree/${encodePath(name.toWellFormed())}` })

const excerpt = (body: string | undefined) => body?.slice(0, 1000)

function unique(links: Link[]): Link[] {
  return [...new Map(links.map((link) => [link.name, link])).values()]
}

/** How many members of a list are named before "and 3 others". */
const mostNamed = 3

/** One, two and 3 others. */
export function listed<T extends string | Link>(items: T[]): (T | string)[] {
  const named = items.length > mostNamed + 1 ? items.slice(0, mostNamed - 1) : items
  const others = items.length - named.length
  const ending = others > 0 ? [` and ${others} others`] : []
  return [
    ...named.flatMap((item, index): (T | string)[] => {
      const last = index === named.length - 1 && others === 0
      return index === 0 ? [item] : [last ? ' and ' : ', ', item]
    }),
    ...ending,
  ]
}
