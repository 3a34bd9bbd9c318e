'use client';

import { useTranslations } from 'next-intl';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import { MarkedText } from '#components/ui/marked-text';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { ALL_CLIENTS } from '#lib/protocol/tool-name';
import { useCall, useTool } from '../providers/workbench-context.tsx';
import { cardView } from './card-view.ts';
import { otherClients } from './elsewhere.ts';

export interface ElsewhereDialogProps {
  callId: string;
  onChoose: (clientId: string) => void;
  onClose: () => void;
}

const LIST = { role: 'list' };

/** Who offers the tool of a call now, to run the call there as a new one (CD41). */
export function ElsewhereDialog({ callId, onChoose, onClose }: ElsewhereDialogProps) {
  const t = useTranslations('card.elsewhere');
  const common = useTranslations('common');
  const card = useCall(callId)?.card;
  const tool = useTool(card?.tool_name);
  const clients = card ? otherClients(card, tool) : [];
  const ofPool = clients.filter(({ notes }) => !notes.includes('otherSchema'));
  const name = showControlCharacters(card?.tool_name ?? '…');
  const choose = (clientId: string) => {
    onClose();
    onChoose(clientId);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('title', { tool: name })}
      description={t(card && cardView(card).mayRepeat ? 'noteAgain' : 'note')}
      closeLabel={common('close')}
    >
      {clients.length === 0 && <p role="status">{t('none', { tool: name })}</p>}
      <ul aria-label={t('list', { tool: name })} {...LIST} className="space-y-2 empty:hidden">
        {clients.map(({ id, name: client, notes }) => (
          <li key={id}>
            <Choice
              id={id}
              name={client}
              notes={notes.map((note) => t(note))}
              onClick={() => choose(id)}
            />
          </li>
        ))}
        {ofPool.length > 1 && (
          <li>
            <Choice
              id={ALL_CLIENTS}
              name={t('all')}
              notes={[]}
              onClick={() => choose(ALL_CLIENTS)}
            />
          </li>
        )}
      </ul>
      {tool?.clients_left_out !== undefined && (
        <p className="mt-2 text-xs text-muted">{t('more', { count: tool.clients_left_out })}</p>
      )}
    </Dialog>
  );
}

interface ChoiceProps {
  id: string;
  name: string;
  notes: readonly string[];
  onClick: () => void;
}

/** Clients name themselves. */
const Choice = ({ id, name, notes, onClick }: ChoiceProps) => (
  <Button
    data-client={id}
    className="min-h-11 w-full flex-wrap justify-start text-left whitespace-normal"
    // A double click is one wish.
    onClick={({ detail }) => detail > 1 || onClick()}
  >
    <span className="min-w-0 wrap-anywhere">
      <MarkedText text={name} />
    </span>
    {notes.length > 0 && (
      <span className="text-xs font-normal text-muted">{notes.join(' · ')}</span>
    )}
  </Button>
);
