export interface SpanContext {
  trace_id: string
  span_id: string
}

/** The header `traceparent` of W3C Trace Context. Later versions may have more fields. Undefined if it is not valid. */
export function readTraceparent(text: string): (SpanContext & { sampled: boolean }) | undefined {
  const [, version, trace_id = '', span_id = '', flags = '', rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.{0,200})?$/.exec(text) ?? []
  if (!version || version === 'ff' || (version === '00' && rest) || /^0+$/.test(trace_id) || /^0+$/.test(span_id))
    return undefined
  return { trace_id, span_id, sampled: (parseInt(flags, 16) & 1) === 1 }
}

/** Only sampled spans exist. */
export const formatTraceparent = ({ trace_id, span_id }: SpanContext) => `00-${trace_id}-${span_id}-01`
