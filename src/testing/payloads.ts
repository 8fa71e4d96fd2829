// biome-ignore-all lint/suspicious/noTsIgnore: where the package is installed, there is no error to expect.

/**
 * The package is optional: without it, the import is an error that is ignored, and payloads are `any`. In this form, the comment stays in the
 * declarations.
 * @ts-ignore */
export type EventPayloads = import('@octokit/webhooks-types').EventPayloadMap

/** The payload of an event, and of one action of it if that is known. */
export type PayloadOf<Event extends string, Action extends string = string> = string extends Event
  ? // biome-ignore lint/suspicious/noExplicitAny: each event has a shape of its own, and tests look into all of them.
    any
  : Event extends keyof EventPayloads
    ? string extends Action
      ? EventPayloads[Event]
      : Extract<EventPayloads[Event], { action: Action }>
    : // biome-ignore lint/suspicious/noExplicitAny: the package does not know the event.
      any
