/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fsm.c - the state machine of a connection (RFC 9293 3.3.2, 3.10) as one
 * table: in this state, at this event, what is done, where it leads, and why.
 *
 * Every pair of state and event is written down here, those that cannot be
 * included.  tcp_input examines a segment in the RFC's order (acceptable, RST, SYN,
 * ACK, text, FIN) and asks the table whether text is taken, what a reset ends with,
 * and where SYN, ACK, FIN, its acknowledgement and a close lead.  What is challenged or
 * answered by a reset it decides by itself, as tcp_listen.c does for CLOSED and LISTEN,
 * where no session is: those cells are the RFC's text for a reader.  What an event needs
 * beside the state (is the sequence number exact? does the acknowledgement
 * cover something sent?) has been found out before it is one.
 * Invariant: no cell is empty; IGNORE and CHALLENGE never change the state.
 */
#include "protocols/tcp/core/tcp_core.h"

static const char *const names[TCP_S_COUNT] = {
	[TCP_S_CLOSED] = "CLOSED", [TCP_S_LISTEN] = "LISTEN", [TCP_S_SYN_SENT] = "SYN-SENT",
	[TCP_S_SYN_RCVD] = "SYN-RECEIVED", [TCP_S_ESTABLISHED] = "ESTABLISHED",
	[TCP_S_CLOSE_WAIT] = "CLOSE-WAIT", [TCP_S_FIN_WAIT_1] = "FIN-WAIT-1", [TCP_S_CLOSING] = "CLOSING",
	[TCP_S_LAST_ACK] = "LAST-ACK", [TCP_S_FIN_WAIT_2] = "FIN-WAIT-2", [TCP_S_TIME_WAIT] = "TIME-WAIT",
};

const char *tcp_state_name(unsigned state)
{
	return state < TCP_S_COUNT ? names[state] : "?";
}

#define IGN(s, w)      { TCP_FSM_IGNORE, TCP_S_##s, w }
#define OK(s, w)       { TCP_FSM_TAKE, TCP_S_##s, w }
#define CHL(s, w)      { TCP_FSM_CHALLENGE, TCP_S_##s, w }
#define RST(s, w)      { TCP_FSM_RESET, TCP_S_##s, w }
#define END(w)         { TCP_FSM_FINISH, TCP_S_CLOSED, w }
#define LOST(w)        { TCP_FSM_FAIL, TCP_S_CLOSED, w }

const struct tcp_fsm_cell tcp_fsm[TCP_S_COUNT][TCP_E_COUNT] = {
	[TCP_S_CLOSED] = {
		[TCP_E_RST]        = IGN(CLOSED, "3.10.7.1: a reset is never answered"),
		[TCP_E_SYN]        = RST(CLOSED, "3.10.7.1: there is no connection"),
		[TCP_E_ACK]        = RST(CLOSED, "3.10.7.1: there is no connection"),
		[TCP_E_DATA]       = RST(CLOSED, "3.10.7.1: there is no connection"),
		[TCP_E_FIN]        = RST(CLOSED, "3.10.7.1: there is no connection"),
		[TCP_E_ACK_OF_FIN] = RST(CLOSED, "3.10.7.1: there is no connection"),
		[TCP_E_CLOSE]      = IGN(CLOSED, "3.10.4: nothing to close"),
	},
	[TCP_S_LISTEN] = {             /* no session is in it: tcp_listen.c */
		[TCP_E_RST]        = IGN(LISTEN, "3.10.7.2: cannot be of anything we sent"),
		[TCP_E_SYN]        = OK(SYN_RCVD, "3.10.7.2: somebody connects"),
		[TCP_E_ACK]        = RST(LISTEN, "3.10.7.2: of nothing we sent, unless a cookie says otherwise"),
		[TCP_E_DATA]       = IGN(LISTEN, "3.10.7.2: without SYN or ACK"),
		[TCP_E_FIN]        = IGN(LISTEN, "3.10.7.4 eighth: SEG.SEQ cannot be validated"),
		[TCP_E_ACK_OF_FIN] = IGN(LISTEN, "no FIN was sent"),
		[TCP_E_CLOSE]      = END("3.10.4: nobody has connected yet"),
	},
	[TCP_S_SYN_SENT] = {
		[TCP_E_RST]        = LOST("3.10.7.3: refused; it acknowledged our SYN"),
		[TCP_E_SYN]        = OK(SYN_RCVD, "3.10.7.3: simultaneous open"),
		[TCP_E_ACK]        = OK(ESTABLISHED, "3.10.7.3: SYN and ACK, ours is acknowledged"),
		[TCP_E_DATA]       = IGN(SYN_SENT, "3.10.7.3 fifth: neither SYN nor RST"),
		[TCP_E_FIN]        = IGN(SYN_SENT, "3.10.7.4 eighth: SEG.SEQ cannot be validated"),
		[TCP_E_ACK_OF_FIN] = IGN(SYN_SENT, "no FIN was sent"),
		[TCP_E_CLOSE]      = END("3.10.4: nothing has been agreed on yet"),
	},
	[TCP_S_SYN_RCVD] = {
		[TCP_E_RST]        = LOST("3.10.7.4 second: refused"),
		[TCP_E_SYN]        = CHL(SYN_RCVD, "5961 4: may be blind; the peer's own is known by its number"),
		[TCP_E_ACK]        = OK(ESTABLISHED, "3.10.7.4 fifth: our SYN is acknowledged"),
		[TCP_E_DATA]       = OK(SYN_RCVD, "3.10.7.3: kept until the connection stands"),
		[TCP_E_FIN]        = OK(CLOSE_WAIT, "3.10.7.4 eighth"),
		[TCP_E_ACK_OF_FIN] = IGN(SYN_RCVD, "no FIN was sent: it waits for the connection"),
		[TCP_E_CLOSE]      = OK(SYN_RCVD, "3.10.4: kept until the connection stands"),
	},
	[TCP_S_ESTABLISHED] = {
		[TCP_E_RST]        = LOST("3.10.7.4 second: connection reset"),
		[TCP_E_SYN]        = CHL(ESTABLISHED, "5961 4: a peer that restarted resets after our ACK"),
		[TCP_E_ACK]        = OK(ESTABLISHED, "3.10.7.4 fifth"),
		[TCP_E_DATA]       = OK(ESTABLISHED, "3.10.7.4 seventh"),
		[TCP_E_FIN]        = OK(CLOSE_WAIT, "3.10.7.4 eighth: the peer has ended its side"),
		[TCP_E_ACK_OF_FIN] = OK(ESTABLISHED, "no FIN was sent"),
		[TCP_E_CLOSE]      = OK(FIN_WAIT_1, "3.10.4: FIN behind what is queued"),
	},
	[TCP_S_CLOSE_WAIT] = {
		[TCP_E_RST]        = LOST("3.10.7.4 second: connection reset"),
		[TCP_E_SYN]        = CHL(CLOSE_WAIT, "5961 4"),
		[TCP_E_ACK]        = OK(CLOSE_WAIT, "3.10.7.4 fifth: we may go on sending"),
		[TCP_E_DATA]       = IGN(CLOSE_WAIT, "3.10.7.4 seventh: nothing can be behind a FIN"),
		[TCP_E_FIN]        = IGN(CLOSE_WAIT, "3.10.7.4 eighth: it has come already"),
		[TCP_E_ACK_OF_FIN] = OK(CLOSE_WAIT, "no FIN was sent"),
		[TCP_E_CLOSE]      = OK(LAST_ACK, "3.10.4: both sides have ended"),
	},
	[TCP_S_FIN_WAIT_1] = {
		[TCP_E_RST]        = LOST("3.10.7.4 second: connection reset"),
		[TCP_E_SYN]        = CHL(FIN_WAIT_1, "5961 4"),
		[TCP_E_ACK]        = OK(FIN_WAIT_1, "3.10.7.4 fifth: of data, not of our FIN"),
		[TCP_E_DATA]       = OK(FIN_WAIT_1, "3.10.7.4 seventh: only our side has ended"),
		[TCP_E_FIN]        = OK(CLOSING, "3.10.7.4 eighth: they crossed; ours is not acknowledged"),
		[TCP_E_ACK_OF_FIN] = OK(FIN_WAIT_2, "3.10.7.4 fifth"),
		[TCP_E_CLOSE]      = IGN(FIN_WAIT_1, "3.10.4: under way already"),
	},
	[TCP_S_CLOSING] = {
		[TCP_E_RST]        = END("3.10.7.4 second: both sides had ended"),
		[TCP_E_SYN]        = CHL(CLOSING, "5961 4"),
		[TCP_E_ACK]        = OK(CLOSING, "3.10.7.4 fifth: not of our FIN"),
		[TCP_E_DATA]       = IGN(CLOSING, "3.10.7.4 seventh: nothing can be behind a FIN"),
		[TCP_E_FIN]        = IGN(CLOSING, "3.10.7.4 eighth: it has come already"),
		[TCP_E_ACK_OF_FIN] = OK(TIME_WAIT, "3.10.7.4 fifth"),
		[TCP_E_CLOSE]      = IGN(CLOSING, "3.10.4: under way already"),
	},
	[TCP_S_LAST_ACK] = {
		[TCP_E_RST]        = END("3.10.7.4 second: both sides had ended"),
		[TCP_E_SYN]        = CHL(LAST_ACK, "5961 4"),
		[TCP_E_ACK]        = OK(LAST_ACK, "3.10.7.4 fifth: not of our FIN"),
		[TCP_E_DATA]       = IGN(LAST_ACK, "3.10.7.4 seventh: nothing can be behind a FIN"),
		[TCP_E_FIN]        = IGN(LAST_ACK, "3.10.7.4 eighth: it has come already"),
		[TCP_E_ACK_OF_FIN] = END("3.10.7.4 fifth: all is said on both sides"),
		[TCP_E_CLOSE]      = IGN(LAST_ACK, "3.10.4: under way already"),
	},
	[TCP_S_FIN_WAIT_2] = {
		[TCP_E_RST]        = LOST("3.10.7.4 second: connection reset"),
		[TCP_E_SYN]        = CHL(FIN_WAIT_2, "5961 4"),
		[TCP_E_ACK]        = OK(FIN_WAIT_2, "3.10.7.4 fifth: nothing is left to acknowledge"),
		[TCP_E_DATA]       = OK(FIN_WAIT_2, "3.10.7.4 seventh: only our side has ended"),
		[TCP_E_FIN]        = OK(TIME_WAIT, "3.10.7.4 eighth"),
		[TCP_E_ACK_OF_FIN] = OK(FIN_WAIT_2, "acknowledged before"),
		[TCP_E_CLOSE]      = IGN(FIN_WAIT_2, "3.10.4: done already"),
	},
	[TCP_S_TIME_WAIT] = {
		[TCP_E_RST]        = END("3.10.7.4 second: the peer has forgotten it, too"),
		[TCP_E_SYN]        = CHL(TIME_WAIT, "5961 4, unless RFC 6191 lets it begin anew"),
		[TCP_E_ACK]        = OK(TIME_WAIT, "3.10.7.4 fifth: nothing is left to acknowledge"),
		[TCP_E_DATA]       = IGN(TIME_WAIT, "3.10.7.4 seventh: nothing can be behind a FIN"),
		[TCP_E_FIN]        = OK(TIME_WAIT, "3.10.7.4 eighth: our ACK was lost; 2 MSL begin again"),
		[TCP_E_ACK_OF_FIN] = OK(TIME_WAIT, "acknowledged before"),
		[TCP_E_CLOSE]      = IGN(TIME_WAIT, "3.10.4: done already"),
	},
};
