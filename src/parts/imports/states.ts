/** The statuses of an import; `none` means that there is no import. */
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

/** Events that a run reports. */
export type RunEvent =
  | 'found'
  | 'found_multiple'
  | 'found_nothing'
  /** The source asks for credentials and none were given. */
  | 'needs_auth'
  /** The source does not accept the credentials. */
  | 'auth_failed'
  | 'imported'
  /** There are large files, and no choice of how to store them. */
  | 'waits'
  | 'mapped'
  | 'pushed'
  | 'corrected'
  | 'failed'

export type ImportEvent =
  | RunEvent
  /** Authors were corrected while commits were written: they are written again. */
  | 'mapped_too_early'
  /** The rest are acts of users. */
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

/** The only table of status changes. A pair that is not in it cannot happen. */
export const transitions: readonly Transition[] = [
  ...from(['none'], 'started', 'importing'),
  ...from(['none'], 'started_without_kind', 'detecting'),

  // If the user names the kind, the status is never `detecting`; the import detects the rest.
  ...from(['detecting', 'importing'], 'found', 'importing'),
  ...from(['detecting', 'importing'], 'found_multiple', 'detection_found_multiple'),
  // Only if the kind is detected: an import whose kind is named fails if there is no repository of that kind.
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
  // A correction that fails leaves the imported repository as it is.
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

/** Undefined if the event cannot happen in this state. */
export function nextState(state: State | 'none', event: ImportEvent): State | 'none' | undefined {
  return byStateAndEvent.get(`${state} ${event}`)
}

/** While an import runs or waits for input, no other can be started. */
export const isUnderWay = (state: State) => running.includes(state)

/** Ended, and webhooks have reported it. */
export const isOver = (state: State) => state === 'complete' || hasFailed(state)

/** Ends that `repository_import` reports as a failure. */
export const hasFailed = (state: State) => state === 'error' || state === 'detection_found_nothing'

/** The fields that an import has only in this state. */
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
  pushing: 'Publishing to the repository...',
  complete: 'Done',
  auth_failed: 'The source does not accept the user name and password. Send others to resume the import.',
  error: 'The import failed. Fix the problem described in message, then restart the import.',
  detection_needs_auth: 'The source asks for a user name and a password. Send them to resume the import.',
  detection_found_nothing:
    'No repository that can be imported was found at this address. Cancel the import and start another with the right address.',
  detection_found_multiple: 'Several projects were found at this address. Choose one to resume the import.',
}

/** A sentence for users. After the end, `message` says why a correction of authors failed. */
export function statusText({ status, waiting, message }: { status: State; waiting: boolean; message?: string | null }): string {
  if (status === 'complete' && message)
    return 'Done, but the last author corrections are not in the commits. See correction_error in the report.'
  if (status !== 'mapping' || !waiting) return texts[status]
  return 'There are files of more than 100 MB. Choose whether to store them with Git LFS (opt_in) or to leave them out (opt_out), to resume the import.'
}
