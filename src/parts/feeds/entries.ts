import type { Push } from '#activity/facts.ts'
import { noObject } from '#git/objects.ts'
import type { EventRecord } from '#parts/timelines/records.ts'
import type { TimelineEvent } from '#parts/timelines/timelines.ts'
import { type Html, xml } from '#web/html.ts'

/** An event, or something else that happened, as a feed shows it. */
export interface Entry {
  /** Unique among the entries of its type. */
  id: number | string
  type: string
  /** Without an id, a name that belongs to no account. */
  actor: { id: number | null; login: string }
  created_at: Date
  /** The page that shows the event best. */
  link: string
  title: string
  /** The title with links, and the text that follows it. */
  content: Html
}

interface Link {
  name: string
  href: string
}

/** A sentence without its subject, which is the actor. */
interface Description {
  words: (string | Link)[]
  link: string
  more?: Html
}

export function entryOf(record: EventRecord, web: string): Entry {
  const { id, type, created_at, actor_id, actor_login: login } = record.event
  const { words, link, more } = describe(record, web)
  const sentence = [{ name: login, href: `${web}/${login}` }, ' ', ...words]
  return {
    id,
    type,
    actor: { id: actor_id, login },
    created_at,
    link,
    title: sentence.map((word) => (typeof word === 'string' ? word : word.name)).join(''),
    content: xml`<p>${sentence.map((word) => (typeof word === 'string' ? word : anchor(word)))}</p>${more}`,
  }
}

const anchor = ({ name, href }: Link) => xml`<a href="${href}">${name}</a>`

function describe(record: EventRecord, web: string): Description {
  const { event, forkee, member, release, comment, review, review_comment, commit_comment } = record
  const repo = repositoryLink(web, event.owner_login, event.repo_name)
  switch (event.type) {
    case 'PushEvent':
      return describePush(event.payload, repo)
    case 'CreateEvent': {
      const { ref, ref_type, description } = event.payload
      if (ref === null) return { words: ['created a repository ', repo], link: repo.href, more: paragraph(description) }
      const made = { name: ref, href: treeUrl(repo, ref) }
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
      return { words: ['published release ', page, ' in ', repo], link: page.href, more: paragraph(release.name) }
    }
    case 'IssuesEvent':
    case 'PullRequestEvent':
      return describeChange(event.payload, record, repo, web)
    case 'IssueCommentEvent': {
      const subject = subjectLink(record, repo)
      return onSubject(`commented on ${subject.kind} `, subject, `issuecomment-${event.payload.comment_id}`, repo, comment?.body)
    }
    case 'PullRequestReviewEvent': {
      const words = `${verdicts[review?.state ?? ''] ?? 'reviewed'} pull request `
      return onSubject(words, subjectLink(record, repo), `pullrequestreview-${event.payload.review_id}`, repo, review?.body)
    }
    case 'PullRequestReviewCommentEvent': {
      const words = `commented on ${review_comment?.path ?? 'a file'} in pull request `
      const anchor = `discussion_r${event.payload.review_comment_id}`
      return onSubject(words, subjectLink(record, repo), anchor, repo, review_comment?.body)
    }
    case 'CommitCommentEvent': {
      if (!commit_comment) return { words: ['commented on a commit in ', repo], link: repo.href }
      const link = `${repo.href}/commit/${commit_comment.commit_id}#commitcomment-${commit_comment.id}`
      const commit = { name: commit_comment.commit_id.slice(0, 7), href: link }
      return { words: ['commented on commit ', commit, ' in ', repo], link, more: excerpt(commit_comment.body) }
    }
  }
}

/** A comment on an issue or a pull request, or a review. */
function onSubject(words: string, subject: Subject, anchor: string, repo: Link, body: string | undefined): Description {
  const link = `${subject.href}#${anchor}`
  const more = xml`${paragraph(subject.title)}${excerpt(body)}`
  return { words: [words, { ...subject, href: link }, ' in ', repo], link, more }
}

const verdicts: Record<string, string> = { APPROVED: 'approved', CHANGES_REQUESTED: 'asked for changes to' }

function repositoryLink(web: string, owner: string, name: string): Link {
  return { name: `${owner}/${name}`, href: `${web}/${owner}/${name}` }
}

function personLink({ login }: { login: string } = { login: 'someone' }, web: string): Link {
  return { name: login, href: `${web}/${login}` }
}

function describePush({ ref, before, head, size, commits }: Push, repo: Link): Description {
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const branch = { name, href: treeUrl(repo, name) }
  // The event has the last commits, oldest first; a feed shows the newest first.
  const list = commits.toReversed().map(({ sha, message }) => {
    const commit = { name: sha.slice(0, 7), href: `${repo.href}/commit/${sha}` }
    return xml`<li><code>${anchor(commit)}</code> ${firstLine(message)}</li>`
  })
  const others = size - commits.length
  const link = before === noObject ? branch.href : `${repo.href}/compare/${before.slice(0, 10)}...${head.slice(0, 10)}`
  return {
    words: ['pushed to ', branch, ' in ', repo],
    link,
    more: xml`${list.length > 0 && xml`<ul>${list}</ul>`}${others > 0 && paragraph(`and ${others} more`)}`,
  }
}

/** A change of an issue or a pull request: opened, closed, reopened, assigned or labeled. */
function describeChange(
  payload: (TimelineEvent & { type: 'IssuesEvent' | 'PullRequestEvent' })['payload'],
  record: EventRecord,
  repo: Link,
  web: string,
): Description {
  const subject = subjectLink(record, repo)
  const { kind } = subject
  const described = { link: subject.href, more: paragraph(subject.title) }
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
function subjectLink({ event, issue, pull }: EventRecord, repo: Link): Subject {
  const is_pull = pull !== undefined || (issue ? issue.pull_id !== null : event.type.startsWith('PullRequest'))
  const [kind, folder] = is_pull ? ['pull request', 'pull'] : ['issue', 'issues']
  const found = pull ?? issue
  if (!found) return { kind, name: 'that is gone', href: repo.href, title: null }
  return { kind, name: `#${found.number}`, href: `${repo.href}/${folder}/${found.number}`, title: found.title }
}

function treeUrl(repo: Link, ref: string) {
  return `${repo.href}/tree/${encodePath(ref)}`
}

function encodePath(path: string) {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

function firstLine(message: string) {
  return message.trimStart().split(/[\r\n]/, 1)[0] ?? ''
}

function paragraph(text: string | null | undefined) {
  return xml`${text && xml`<p>${text}</p>`}`
}

function excerpt(body: string | undefined) {
  return paragraph(body?.slice(0, 1000))
}
