import sax, { type SAXParser } from 'sax'
import { XML_ATTRIBUTES_MAX, XML_DEPTH_MAX } from '../../../contract/source-limits.ts'
import { SourceUnreadable } from '../containers/source-unreadable.ts'

export type Attributes = Readonly<Record<string, string>>

/** What is done on the way through a document; names come without their namespace's prefix. Text may come in pieces. */
export type XmlVisitor = {
  readonly onOpen: (name: string, attributes: Attributes) => void
  readonly onText?: (text: string) => void
  readonly onClose?: (name: string) => void
}

/** Writers name the same elements with a prefix or without one. */
const localName = (name: string): string => {
  const colon = name.indexOf(':')
  return colon < 0 ? name : name.slice(colon + 1)
}

const damaged = (cause: unknown): SourceUnreadable => new SourceUnreadable('sheet-damaged', { cause })

const parserOf = ({ onOpen, onText, onClose }: XmlVisitor): SAXParser => {
  // No entity but XML's own five: those of HTML are none in a workbook. The parser expands no others. It bounds its
  // buffers by its position, so that must be counted: without it one endless comment fills the memory.
  const options = { position: true, strictEntities: true }
  const parser = new sax.SAXParser(true, options)
  let depth = 0
  let attributes = 0
  parser.onerror = (error) => {
    throw damaged(error)
  }
  parser.ondoctype = () => {
    throw damaged(new Error('a part of a workbook has no document type'))
  }
  // The parser keeps every open element and each attribute of a tag: without bounds a small file fills the memory.
  parser.onattribute = () => {
    attributes += 1
    if (attributes > XML_ATTRIBUTES_MAX) throw damaged(new Error(`more than ${XML_ATTRIBUTES_MAX} attributes`))
  }
  parser.onopentag = (tag) => {
    attributes = 0
    depth += 1
    if (depth > XML_DEPTH_MAX) throw damaged(new Error(`elements more than ${XML_DEPTH_MAX} deep`))
    onOpen(localName(tag.name), tag.attributes as Attributes)
  }
  parser.onclosetag = (name) => {
    depth -= 1
    onClose?.(localName(name))
  }
  if (onText !== undefined) {
    parser.ontext = onText
    parser.oncdata = onText
  }
  return parser
}

/**
 * Walks through an XML document in UTF-8 as a stream; what it keeps is bounded. Ends where `visitor` throws.
 *
 * @throws SourceUnreadable sheet-damaged, where it is not well-formed; what `bytes` and `visitor` throw
 */
export const walkXml = async (bytes: AsyncIterable<Buffer>, visitor: XmlVisitor): Promise<void> => {
  const parser = parserOf(visitor)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch (error) {
      throw damaged(error)
    }
  }
  for await (const chunk of bytes) parser.write(decoded(chunk))
  parser.write(decoded())
  parser.close()
}
