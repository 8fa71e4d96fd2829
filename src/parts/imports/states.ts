/** Where an import stands; `none` where there is none. */
export const states = [
  'detecting',
  'importing',
  'mapping',
  'pushing',
  'complete',
  'auth_failed',
  'error',
  'detection_needs_auth',
  'detection_found_nothing',
  'detection_found_multiple',
] as const
export type State = (typeof states)[number]

/** What those who run imports tell of. */
export type RunEvent =
  /** What is there, and of which kind. */
  | 'found'
  | 'found_multiple'
  | 'found_nothing'
  /** Somebody asks who we are, and we have nothing to say. */
  | 'needs_auth'
  /** Somebody does not believe who we say we are. */
  | 'auth_failed'
  | 'imported'
  /** There are large files, and nobody has said what is to become of them. */
  | 'waits'
  | 'mapped'
  | 'pushed'
  | 'corrected'
  | 'failed'

export type ImportEvent =
  | RunEvent
  /** Authors were corrected while commits were written: once more. */
  | 'mapped_too_early'
  /** All else is said by people. */
  | 'started'
  | 'started_without_kind'
  | 'lfs_chosen'
  | 'credentials_given'
  | 'credentials_given_without_kind'
  | 'project_chosen'
  | 'restarted'
  | 'restarted_without_kind'
  | 'cancelled'

interface Transition {
  state: State | 'none'
  event: ImportEvent
  next: State | 'none'
}

const running: State[] = ['detecting', 'importing', 'mapping', 'pushing']
const refused: State[] = ['auth_failed', 'detection_needs_auth']

/** The only place that says how a status changes. What is not in it cannot happen. */
export const transitions: readonly Transition[] = [
  ...from(['none'], 'started', 'importing'),
  ...from(['none'], 'started_without_kind', 'detecting'),

  // Whoever names the kind themselves is past the detection: what that would have found is found by the import.
  ...from(['detecting', 'importing'], 'found', 'importing'),
  ...from(['detecting', 'importing'], 'found_multiple', 'detection_found_multiple'),
  // Only where the kind was left to be detected: an import whose kind is named fails if there is none of that kind.
  ...from(['detecting'], 'found_nothing', 'detection_found_nothing'),
  ...from(['detecting'], 'needs_auth', 'detection_needs_auth'),
  ...from(['importing', 'mapping', 'pushing'], 'needs_auth', 'auth_failed'),
  ...from(running, 'auth_failed', 'auth_failed'),

  ...from(['importing'], 'imported', 'mapping'),
  ...from(['mapping'], 'waits', 'mapping'),
  ...from(['mapping'], 'lfs_chosen', 'mapping'),
  ...from(['mapping'], 'mapped_too_early', 'mapping'),
  ...from(['mapping'], 'mapped', 'pushing'),
  ...from(['pushing'], 'pushed', 'complete'),
  ...from(['complete'], 'corrected', 'complete'),
  ...from(running, 'failed', 'error'),
  // A correction that cannot be made takes nothing away from what is there.
  ...from(['complete'], 'failed', 'complete'),

  ...from(refused, 'credentials_given', 'importing'),
  ...from(refused, 'credentials_given_without_kind', 'detecting'),
  ...from(['detection_found_multiple'], 'project_chosen', 'importing'),
  ...from(states, 'restarted', 'importing'),
  ...from(states, 'restarted_without_kind', 'detecting'),
  ...from(states, 'cancelled', 'none'),
]

function from(before: readonly Transition['state'][], event: ImportEvent, next: Transition['next']): Transition[] {
  return before.map((state) => ({ state, event, next }))
}

const byStateAndEvent = new Map(transitions.map(({ state, event, next }) => [`${state} ${event}`, next]))

/** Undefined where that cannot happen. */
export function nextState(state: State | 'none', event: ImportEvent): State | 'none' | undefined {
  return byStateAndEvent.get(`${state} ${event}`)
}

/** On its way, or waiting on its way: another cannot be started. */
export const isUnderWay = (state: State) => running.includes(state)

/** Nothing more comes of it by itself, and hooks have been told so. */
export const isOver = (state: State) => state === 'complete' || hasFailed(state)

/** Ends that `repository_import` reports as a failure. */
export const hasFailed = (state: State) => state === 'error' || state === 'detection_found_nothing'

/** What is told of an import only while it stands there. */
export const fieldsOf: Partial<
  Record<State, readonly ('commit_count' | 'percent' | 'push_percent' | 'project_choices' | 'failed_step' | 'message')[]>
> = {
  importing: ['commit_count', 'percent'],
  pushing: ['push_percent'],
  error: ['failed_step', 'message'],
  detection_found_multiple: ['project_choices'],
}

const texts: Record<State, string> = {
  detecting: 'Looking for a repository at this address...',
  importing: 'Importing...',
  mapping: 'Writing branches, tags and authors...',
  pushing: 'Bringing everything into the repository...',
  complete: 'Done',
  auth_failed: 'The source does not accept the user name and password. Give others, and the import goes on.',
  error: 'The import failed. Fix the problem described in message, then restart the import.',
  detection_needs_auth: 'The source asks for a user name and a password. Give them, and the import goes on.',
  detection_found_nothing:
    'Nothing that could be imported was found at this address. Cancel the import, and start another with the right one.',
  detection_found_multiple: 'Several projects were found at this address. Choose one, and the import goes on.',
}

interface Standing {
  status: State
  waiting: boolean
  message?: string | null
}

/** For people: what is going on, or what to do. After the end, `message` is why authors were corrected in vain. */
export function statusText({ status, waiting, message = null }: Standing): string {
  if (status === 'complete' && message)
    return 'Done, but the authors that were corrected last are not in the commits. The report says why (correction_error).'
  if (status !== 'mapping' || !waiting) return texts[status]
  return 'There are files of more than 100 MB. Choose whether they are stored with Git LFS (opt_in) or left out (opt_out), and the import goes on.'
}
